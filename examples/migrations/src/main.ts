import { openKv } from "@keywright/core";
import { firstRelease, fourthRelease, secondRelease, thirdRelease } from "./releases.js";

const customers = Number(process.argv[2] ?? 5000);

await using kv = await openKv();
const releases = [
  ["the shop opens", firstRelease],
  ["emails become unique", secondRelease],
  ["money becomes cents", thirdRelease],
  ["names are found by pointers instead of copies", fourthRelease],
] as const;
for (const [i, [title, release]] of releases.entries()) {
  console.log(`\n— Release ${i + 1}: ${title}`);
  await release(kv, customers);
}
