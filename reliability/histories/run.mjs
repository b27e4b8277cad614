// Records histories of clients and checks them: `npm run soak:histories -- --histories 2000`. Exits
// with 1 if one is not strictly serializable.
import { parseArgs } from "node:util";
import { writeResults } from "../shared/write-results.mjs";
import { checkNewHistory, databases } from "./histories.mjs";

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "2000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const figures = { histories: 0, calls: 0, wrong: 0 };
const all = Object.entries(databases);
for (let i = 0; i < Number(values.histories); i++) {
  const [name, open] = all[i % all.length];
  const seed = Number(values.seed) + i;
  const { calls, problems } = await checkNewHistory(open, seed);
  figures.histories++;
  figures.calls += calls;
  if (problems.length > 0) figures.wrong++;
  for (const problem of problems) console.error(`${name}, seed ${seed}: ${problem}`);
}
writeResults(
  "histories",
  figures,
  `${figures.histories} histories with ${figures.calls} calls, ${figures.wrong} not strictly serializable`,
);
if (figures.wrong > 0) process.exitCode = 1;
