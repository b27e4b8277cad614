import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { openKv, repairDatabase } from "@keywright/core";
import { backup, folderSink, restore } from "@keywright/core/backup";
import { FilePowerRun } from "../file-power/file-power-run.mjs";
import { fates as fatesOfFile } from "../file-power/files-after-cut.mjs";
import { fates } from "../power/disk-state.mjs";
import { PowerRun } from "../power/power-run.mjs";
import { openDatabase } from "../shared/open-database.mjs";

/** Commits after a power failure, so that versionstamps of lost commits may be used again. */
const commitsAfter = 50;

/**
 * Records a process that commits, follows the feed and backs up, and cuts the power of its database
 * at random times. The feed and the backup are on another machine, so they keep what they had. The
 * feed must continue with the next commit, and the backup too. With relaxed durability, the
 * database may have lost commits that they have: the backup must then notice it.
 *
 * @param file the name of the file of the database, which says which engine it is of. Without it,
 * the database is a LevelDB folder.
 * @returns `{ continued, refused, problems }`: how many cuts were made of which the backup was
 * continued and of which it had to be full, and what is wrong in words.
 */
export async function cutPowerOfLog({ file, durability, commits, valueBytes, cuts, random }) {
  const sinkPath = await mkdtemp(join(tmpdir(), "keywright-log-sink-"));
  const counts = { continued: 0, refused: 0, problems: [] };
  const program = new URL("commit-and-back-up.mjs", import.meta.url);
  const run =
    file === undefined
      ? await PowerRun.begin(random, { program, keepsLog: true })
      : await FilePowerRun.begin(file, random, { program });
  try {
    await run.commit({ durability, commits, valueBytes, closes: random.next() < 0.5, sinkPath });
    for (let cut = 0; cut < cuts; cut++) {
      const fate = random.pick(file === undefined ? fates : fatesOfFile);
      const after = run.pickCut();
      await run.withDisk(after, fate, async (path, events) => {
        const sink = await sinkOf(sinkPath, events, `${path}-backup`);
        const problems = await examine(path, events, sink, durability, counts);
        for (const problem of problems)
          counts.problems.push(`after ${after} of ${run.events} events, ${fate}: ${problem}`);
      });
    }
  } finally {
    await run.end();
    await rm(sinkPath, { recursive: true });
  }
  return counts;
}

/** Copies the objects that the sink had at the time of the cut. */
async function sinkOf(sinkPath, events, path) {
  for (const [kind, name] of events) {
    // What says that a full backup is being made was removed later.
    if (kind !== "object" || !existsSync(join(sinkPath, name))) continue;
    const copy = join(path, name);
    await mkdir(dirname(copy), { recursive: true });
    await cp(join(sinkPath, name), copy);
  }
  return folderSink(path);
}

async function examine(path, events, sink, durability, counts) {
  const kv = await openRepaired(path);
  try {
    const problems = durability === "full" ? await problemsOfFeed(kv, events) : [];
    for (let n = 0; n < commitsAfter; n++) await kv.set(["later", n], n);
    const result = await backup(kv, sink, { incremental: true, fullIfNeeded: true });
    const hadBackup = events.some(([kind, name]) => kind === "object" && name.endsWith(".full"));
    if (hadBackup) counts[result.fullReason === undefined ? "continued" : "refused"]++;
    if (hadBackup && durability === "full" && result.fullReason !== undefined)
      problems.push(`the backup was not continued: ${result.fullReason}`);
    if (!(await isRestored(sink, kv))) problems.push("the backup has another state");
    return problems;
  } catch (error) {
    return [`${error.code}: ${error.stack}`];
  } finally {
    await kv.close();
  }
}

/** A database with relaxed durability may refuse to open until it was repaired. */
async function openRepaired(path) {
  try {
    return await openDatabase(path, { log: { keep: "1 day" } });
  } catch (error) {
    if (error.code !== "KW_CORRUPTION") throw error;
    await repairDatabase(path, { inPlace: true });
    return await openDatabase(path, { log: { keep: "1 day" } });
  }
}

/** The feed continues after the last commit that it had before the cut. */
async function problemsOfFeed(kv, events) {
  const problems = [];
  const seen = events.filter(([kind]) => kind === "seen").map(([, , versionstamp]) => versionstamp);
  const after = seen.at(-1);
  for await (const { versionstamp } of kv.changes({ after, live: false })) seen.push(versionstamp);
  for (let i = 1; i < seen.length; i++)
    if (seen[i] <= seen[i - 1]) problems.push(`order: ${seen[i]} comes after ${seen[i - 1]}`);
  const all = new Set(seen);
  for (const [kind, id, versionstamp] of events)
    if (kind === "acknowledged" && !all.has(versionstamp)) problems.push(`missing: ${id}`);
  return problems;
}

async function isRestored(sink, kv) {
  const copy = await openKv(":memory:");
  try {
    await restore(sink, copy);
    return isDeepStrictEqual(await valuesOf(copy), await valuesOf(kv));
  } finally {
    await copy.close();
  }
}

async function valuesOf(kv) {
  const values = new Map();
  for await (const { key, value } of kv.list({ prefix: [] }, { batchSize: 500 }))
    values.set(JSON.stringify(key), value);
  return values;
}
