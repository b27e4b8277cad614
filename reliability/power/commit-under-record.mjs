// Commits to a database, with 64 commits in flight, in a process whose file operations are recorded
// by record-files.c, or by file-power/record-writes.c. Each commit sets two keys and counts itself, and a
// few set thousands.
// After a commit is acknowledged, the line `acknowledged <id> <versionstamp>` joins the recorded
// events.
import { openNotes } from "../file-power/open-notes.mjs";
import { isLarge, largeCommit } from "../shared/compare-commits.mjs";
import { openDatabase } from "../shared/open-database.mjs";

const { path, log, durability, keepsLog, round, commits, valueBytes, closes } = JSON.parse(
  process.argv[2],
);
const note = openNotes(path, log);
const kv = await openDatabase(path, {
  durability,
  ...(keepsLog && { log: { keep: "1 day" } }),
});
let next = 0;

async function commitSome() {
  while (next < commits) {
    const id = `${round}-${next++}`;
    const payload = "x".repeat(Math.floor(Math.random() * valueBytes));
    const operation = kv
      .atomic()
      .check({ key: ["left", id], versionstamp: null })
      .set(["left", id], { id, payload })
      .set(["right", id], { id, payload })
      .sum(["commits"], 1n);
    if (isLarge(next - 1)) for (let n = 0; n < largeCommit; n++) operation.set(["many", id, n], n);
    const { versionstamp } = await operation.commit();
    note(`acknowledged ${id} ${versionstamp}`);
  }
}

await Promise.all(Array.from({ length: 64 }, commitSome));
if (closes) await kv.close();
process.exit();
