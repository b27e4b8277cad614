// Runs schedules of concurrent calls: `npm run soak:races -- --schedules 1000000`. `--minutes 10`
// ends earlier, `--scenarios transactions,backfill` chooses, and `--seed` repeats a schedule. Exits
// with 1 if something is wrong.
import { parseArgs } from "node:util";
import { writeResults } from "../shared/write-results.mjs";
import { checkSchedule } from "./races.mjs";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "100000" },
    minutes: { type: "string", default: "Infinity" },
    scenarios: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const end = performance.now() + Number(values.minutes) * 60_000;
const chosen = values.scenarios?.split(",");
const figures = { schedules: 0, wrong: 0 };
const print = console.error;
// Handlers of the queue fail on purpose, and the queue prints their errors.
console.error = () => undefined;
for (let i = 0; i < Number(values.schedules) && performance.now() < end; i++) {
  const seed = Number(values.seed) + i;
  const { name, problems } = await checkSchedule(seed, chosen?.[i % chosen.length]);
  figures.schedules++;
  figures[name] = (figures[name] ?? 0) + 1;
  if (problems.length > 0) figures.wrong++;
  for (const problem of problems) print(`${name}, seed ${seed}: ${problem}`);
}
const { schedules, wrong, ...scenarios } = figures;
const parts = Object.entries(scenarios).map(([name, count]) => `${name} ${count}`);
writeResults("races", figures, `${schedules} schedules (${parts.join(", ")}), ${wrong} wrong`);
if (wrong > 0) process.exitCode = 1;
