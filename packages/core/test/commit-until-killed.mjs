// Commits to the database at a path, 64 commits in flight, until it is killed. Each commit sets two keys; once it is
// acknowledged, its number and versionstamp are printed on a line.
import { openKv } from "../dist/index.js";

const [path, durability, round] = process.argv.slice(2);
const kv = await openKv(path, { durability });
let next = 0;

async function commitForEver() {
  for (;;) {
    const id = `${round}-${next++}`;
    const payload = "x".repeat(Math.floor(Math.random() * 2000));
    const result = await kv
      .atomic()
      .check({ key: ["left", id], versionstamp: null })
      .set(["left", id], { id, payload })
      .set(["right", id], { id, payload })
      .commit();
    process.stdout.write(`${id} ${result.versionstamp}\n`);
  }
}

await Promise.all(Array.from({ length: 64 }, commitForEver));
