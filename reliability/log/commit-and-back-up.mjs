// Commits to a database with a log, in a process whose file operations are recorded, while it
// follows the feed and adds its commits to a backup. Notes each commit that was acknowledged, each
// that the feed had, and each object that the backup has written, as events among those of files.
import { backup, folderSink } from "@keywright/core/backup";
import { openNotes } from "../file-power/open-notes.mjs";
import { openDatabase } from "../shared/open-database.mjs";

const { path, log, durability, sinkPath, commits, valueBytes, closes } = JSON.parse(
  process.argv[2],
);
const note = openNotes(path, log);
const kv = await openDatabase(path, { durability, log: { keep: "1 day" } });
let next = 0;
let hasEnded = false;

async function commitSome() {
  while (next < commits) {
    const id = String(next++);
    const value = { id, payload: "x".repeat(Math.floor(Math.random() * valueBytes)) };
    const { versionstamp } = await kv
      .atomic()
      .set(["row", id], value)
      .set(["last", next % 10], value)
      .sum(["commits"], 1n)
      .context({ id })
      .commit();
    note(`acknowledged ${id} ${versionstamp}`);
  }
}

async function follow() {
  for await (const { versionstamp, context } of kv.changes())
    note(`seen ${context.id} ${versionstamp}`);
}

const folder = folderSink(sinkPath);
const sink = {
  ...folder,
  put: async (name, bytes) => {
    await folder.put(name, bytes);
    note(`object ${name}`);
  },
};

async function backUp() {
  while (!hasEnded) await backup(kv, sink, { incremental: true });
}

await backup(kv, sink);
void follow();
const backingUp = backUp();
await Promise.all(Array.from({ length: 64 }, commitSome));
hasEnded = true;
await backingUp;
if (closes) await kv.close();
process.exit();
