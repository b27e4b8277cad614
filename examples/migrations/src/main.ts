import { openKv } from "@keywright/core";
import { firstRelease, fourthRelease, secondRelease, thirdRelease } from "./releases.js";

const customers = Number(process.argv[2] ?? 5000);

await using kv = await openKv();
const releases = [firstRelease, secondRelease, thirdRelease, fourthRelease];
for (const [i, release] of releases.entries()) {
  console.log(`\n— Release ${i + 1}`);
  await release(kv, customers);
}
