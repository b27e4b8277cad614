// Repeatedly kills a process that commits, and verifies the database: `npm run soak:crash --
// --minutes 10`. Exits with 1 if a commit was lost or was stored in part.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openKv } from "../dist/index.js";
import { CrashRun } from "./crash-run.mjs";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "1" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new RangeError("--minutes is a positive number");
/** Then a new database is begun: to look at all of it takes the longer the more there is. */
const commitsOfOneDatabase = 20_000;

const end = performance.now() + minutes * 60_000;
const total = { cycles: 0, acknowledged: 0, lost: 0, halves: 0, others: 0 };
while (performance.now() < end) await crashOneDatabase();
console.log(
  `${total.cycles} cycles, ${total.acknowledged} commits acknowledged, ` +
    `${total.lost} lost, ${total.halves} halves, ${total.others} other problems`,
);
if (total.lost + total.halves + total.others > 0) process.exitCode = 1;

async function crashOneDatabase() {
  const path = await mkdtemp(join(tmpdir(), "keywright-crash-"));
  const run = new CrashRun(openKv, path);
  let isSound = true;
  try {
    while (isSound && run.acknowledged < commitsOfOneDatabase && performance.now() < end)
      isSound = count(await run.cycle(pick(["full", "relaxed"]), acknowledgements()));
  } finally {
    total.cycles += run.cycles;
    total.acknowledged += run.acknowledged;
    if (isSound) await rm(path, { recursive: true, force: true });
    else console.error(`the database is left in ${path}`);
  }
}

/** Counts problems, and says whether there were none. */
function count(problems) {
  for (const problem of problems) {
    console.error(problem);
    if (problem.startsWith("lost")) total.lost++;
    else if (problem.startsWith("half")) total.halves++;
    else total.others++;
  }
  return problems.length === 0;
}

/**
 * From processes that are killed while they open the database to those that have written for a
 * while.
 */
function acknowledgements() {
  return Math.floor(pick([0, 10, 100, 1000, 5000]) * Math.random());
}

function pick(choices) {
  return choices[Math.floor(Math.random() * choices.length)];
}
