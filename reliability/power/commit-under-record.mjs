// Commits to a database, with 64 commits in flight, in a process whose file operations are recorded
// by record-files.c. power-run.mjs starts it. Each commit sets two keys and counts itself. After a
// commit is acknowledged, the line `acknowledged <id> <versionstamp>` joins the recorded events.
import { openSync, writeSync } from "node:fs";
import { openKv } from "@keywright/core";

const { path, log, durability, round, commits, valueBytes, closes } = JSON.parse(process.argv[2]);
const events = openSync(log, "a");
const kv = await openKv(path, { durability });
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
    writeSync(events, `acknowledged ${id} ${versionstamp}\n`);
  }
}

await Promise.all(Array.from({ length: 64 }, commitSome));
if (closes) await kv.close();
process.exit();
