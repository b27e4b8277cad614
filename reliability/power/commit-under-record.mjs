// Commits to a database, with 64 commits in flight, in a process whose file operations are recorded
// by record-files.c, or by lmdb/record-writes.c. Each commit sets two keys and counts itself. After a
// commit is acknowledged, the line `acknowledged <id> <versionstamp>` joins the recorded events.
import { openSync, writeSync } from "node:fs";
import { openDatabase } from "../shared/open-database.mjs";

const { path, log, durability, keepsLog, round, commits, valueBytes, closes } = JSON.parse(
  process.argv[2],
);
const events = openSync(log, "a");
const kv = await openDatabase(path, {
  durability,
  ...(keepsLog && { log: { keep: "1 day" } }),
});
let next = 0;

async function commitSome() {
  while (next < commits) {
    const id = `${round}-${next++}`;
    const payload = "x".repeat(Math.floor(Math.random() * valueBytes));
    const { versionstamp } = await kv
      .atomic()
      .check({ key: ["left", id], versionstamp: null })
      .set(["left", id], { id, payload })
      .set(["right", id], { id, payload })
      .sum(["commits"], 1n)
      .commit();
    note(`acknowledged ${id} ${versionstamp}\n`);
  }
}

/** The events of an LMDB file have a head of 13 bytes. */
function note(line) {
  if (!path.endsWith(".mdb")) {
    writeSync(events, line);
    return;
  }
  const head = Buffer.alloc(13);
  head[0] = "a".charCodeAt(0);
  head.writeUInt32LE(line.length, 9);
  writeSync(events, Buffer.concat([head, Buffer.from(line)]));
}

await Promise.all(Array.from({ length: 64 }, commitSome));
if (closes) await kv.close();
process.exit();
