// Makes one backup after another of a database into a folder, until it is killed or its input ends:
// full ones, incremental ones, and ones that follow. When the input ends, it adds the last commits.
import { backup, folderSink } from "@keywright/core/backup";
import { openDatabase } from "../shared/open-database.mjs";
import { Random } from "../shared/random.mjs";

const { where, sinkPath, seed, keep } = JSON.parse(process.argv[2]);
const random = new Random(seed);
const print = (line) => process.stdout.write(`${line}\n`);
const longestFollow = 1500;
let hasEnded = false;
process.stdin.on("end", () => {
  hasEnded = true;
});
process.stdin.resume();

const sink = folderSink(sinkPath);
const adding = { incremental: true, fullIfNeeded: true };

async function backUp(options) {
  try {
    await backUpOnce(options);
  } catch (error) {
    // A full backup ends with the process that holds its state, or if it is to follow and the
    // signal aborts before. It is interrupted then, as if this process was killed.
    const isInterrupted = error.code === "KW_READ_VIEW_ENDED" || error === options.signal?.reason;
    if (!isInterrupted) throw error;
  }
}

async function backUpOnce(options) {
  const { kind, versionstamp, fullReason } = await backup(kv, sink, options);
  if (fullReason !== undefined && fullReason !== "the sink has no backup")
    throw new Error(`a full backup was needed: ${fullReason}`);
  print(`backup ${kind} ${versionstamp}`);
}

// If the process that owns the database is killed, another one becomes the owner.
const attach = { takeOver: true };
const kv = await openDatabase(where, { attach });
try {
  while (!hasEnded) {
    const chance = random.next();
    if (chance < 0.15) await backUp({ keep });
    else if (chance < 0.8) await backUp(adding);
    else {
      const signal = AbortSignal.timeout(1 + random.below(longestFollow));
      await backUp({ ...adding, follow: true, signal });
    }
  }
  await backUpOnce(adding);
  await kv.close();
} catch (error) {
  print(`error a backup failed: ${error.stack?.replaceAll("\n", " ")}`);
}
process.exit();
