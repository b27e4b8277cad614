// Kills processes that work with models: `npm run soak:kill -- --kills 2000`. `--minutes 10` ends
// earlier. `--database kv.sqlite` works with SQLite files, and then writes no results. Exits with 1
// if an acknowledged call was lost, or if a call was stored in part.
import { parseArgs } from "node:util";
import { Random } from "../shared/random.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { killsOfOneDatabase, killWork } from "./kill-run.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "2000" },
    minutes: { type: "string", default: "Infinity" },
    database: { type: "string", default: "kv" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const end = performance.now() + Number(values.minutes) * 60_000;
const figures = { kills: 0, databases: 0, calls: 0, lost: 0, halves: 0, others: 0 };
while (figures.kills < Number(values.kills) && performance.now() < end) {
  const seed = Number(values.seed) + figures.databases;
  const { calls, problems } = await killWork(killsOfOneDatabase, new Random(seed), values.database);
  figures.kills += killsOfOneDatabase;
  figures.databases++;
  figures.calls += calls;
  for (const problem of problems) {
    console.error(`seed ${seed}: ${problem}`);
    if (problem.startsWith("lost")) figures.lost++;
    else if (problem.startsWith("half")) figures.halves++;
    else figures.others++;
  }
}
const { kills, databases, calls, lost, halves, others } = figures;
const summary =
  `${kills} kills, ${databases} databases, ${calls} calls acknowledged: ${lost} lost, ` +
  `${halves} stored in part, ${others} other problems`;
// The page has the figures of the default engine.
if (values.database === "kv") writeResults("kill", figures, summary);
else console.log(summary);
if (lost + halves + others > 0) process.exitCode = 1;
