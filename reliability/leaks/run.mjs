// Abandons calls for some time: `npm run soak:leaks -- --minutes 60`. Exits with 1 if anything grows.
import { parseArgs } from "node:util";
import { writeResults } from "../shared/write-results.mjs";
import { abandonInRounds } from "./leaks.mjs";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "60" } } });
const count = 200;
const end = Date.now() + Number(values.minutes) * 60_000;
const { rounds, middle, last, problems } = await abandonInRounds(count, () => Date.now() > end);
for (const problem of problems) console.error(problem);
const inMegabytes = (bytes) => (bytes / 1e6).toFixed(1);
writeResults(
  "leaks",
  { minutes: Number(values.minutes), rounds, middle, last },
  `${values.minutes} minutes, ${rounds} rounds: memory ${inMegabytes(middle.heap)} MB in the middle and ${inMegabytes(last.heap)} MB at the end, open files ${middle.files} and ${last.files}, timers and handles ${middle.resources} and ${last.resources}, disk ${inMegabytes(middle.disk)} and ${inMegabytes(last.disk)} MB`,
  false,
);
if (problems.length > 0) process.exitCode = 1;
