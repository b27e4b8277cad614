import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ExpectedRows } from "../shared/expected-rows.mjs";
import { logProblems } from "../shared/log-problems.mjs";
import { openDatabase } from "../shared/open-database.mjs";
import { problemsAfterMigration, storedRows } from "../shared/stored-rows.mjs";

const program = fileURLToPath(new URL("work-until-killed.mjs", import.meta.url));
/** The first kills of a database are of the old program, those after them of the new one. */
const killsOfOldProgram = 2;
export const killsOfOneDatabase = 6;

/**
 * Kills processes that work with the models of one database, one after the other, and verifies the
 * rows after each kill. The processes after the second have a new schema, so they migrate. At the
 * end the migration is completed here, and all indexes and references are verified.
 *
 * @param name the name of the database: that of an LMDB or SQLite file, or of a LevelDB folder.
 * @returns the number of calls that were acknowledged, and what is wrong in words.
 */
export async function killWork(kills, random, name = "kv") {
  const folder = await mkdtemp(join(tmpdir(), "keywright-kill-"));
  const path = join(folder, name);
  const expected = new ExpectedRows();
  const problems = [];
  const log = random.next() < 0.5 ? { keep: "1 day" } : undefined;
  try {
    for (let round = 0; round < kills && problems.length === 0; round++) {
      const schema = round < killsOfOldProgram ? "old" : "new";
      const durability = random.pick(["full", "relaxed"]);
      await workAndKill(expected, random, { path, durability, log, round, schema });
      problems.push(...expected.settle(await withDatabase(path, log, storedRows)));
    }
    for (const find of [problemsAfterMigration, ...(log ? [logProblems] : [])])
      if (problems.length === 0) problems.push(...(await withDatabase(path, log, find)));
  } finally {
    if (problems.length === 0) await rm(folder, { recursive: true, force: true });
    else problems.push(`the database is left in ${folder}`);
  }
  return { calls: expected.done, problems };
}

/** Every second process kills itself right after an acknowledgement. The others are killed here. */
async function workAndKill(expected, random, task) {
  const calls = random.pick([0, 10, 100, 500, 2000]) * random.next();
  const last = calls >= 1 && random.next() < 0.5 ? Math.ceil(calls) : undefined;
  const input = JSON.stringify({ ...task, users: expected.users, last });
  const child = spawn(process.execPath, [program, input], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  const before = expected.done;
  if (calls < 1) killSoon(child, 400, random);
  for await (const line of createInterface({ input: child.stdout })) {
    expected.note(line);
    if (last === undefined && expected.done - before >= calls) killSoon(child, 10, random);
  }
  const [code, signal] = await exit;
  if (signal !== "SIGKILL") throw new Error(`the process was not killed: it ended with ${code}`);
}

/** Kills after some random time, so that it is not always killed after it prints. */
function killSoon(child, milliseconds, random) {
  setTimeout(() => child.kill("SIGKILL"), random.next() * milliseconds);
}

async function withDatabase(path, log, body) {
  const kv = await openDatabase(path, { durability: "relaxed", log });
  try {
    return await body(kv);
  } finally {
    await kv.close();
  }
}
