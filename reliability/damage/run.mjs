// Damages files of a database: `npm run soak:damage -- --damages 5000`. Exits with 1 if an entry is
// hidden without a report.
import { parseArgs } from "node:util";
import { Random } from "../shared/random.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { DamagedDatabase, states } from "./damaged-database.mjs";

const { values } = parseArgs({
  options: {
    damages: { type: "string", default: "5000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const figures = Object.fromEntries(
  states.map((state) => [state, { reported: 0, nothing: 0, "end of log": 0, wrong: 0 }]),
);
const database = await DamagedDatabase.create();
try {
  for (let i = 0; i < Number(values.damages); i++) {
    const state = states[i % states.length];
    const seed = Number(values.seed) + i;
    const { outcome, problems } = await database.damage(state, new Random(seed));
    figures[state][problems.length > 0 ? "wrong" : outcome]++;
    for (const problem of problems) console.error(`${state}, seed ${seed}: ${problem}`);
  }
} finally {
  await database.remove();
}
const lines = states.map((state) => {
  const { reported, nothing, "end of log": endOfLog, wrong } = figures[state];
  const cut = state === "killed" ? `${endOfLog} hid the end of the log, ` : "";
  const total = reported + nothing + endOfLog + wrong;
  return `${state}: ${total} damages, ${reported} reported, ${nothing} without effect, ${cut}${wrong} wrong`;
});
writeResults("damage", figures, lines.join("; "));
if (states.some((state) => figures[state].wrong > 0)) process.exitCode = 1;
