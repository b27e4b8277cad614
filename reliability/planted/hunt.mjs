// Looks for the planted fault with one campaign, and prints `{ steps, seconds, problem }` as JSON,
// with the seconds of CPU time that it took. `problem` is absent if the campaign has found nothing within its bounds. hunt-fault.mjs starts it.
import { readFileSync } from "node:fs";
import { campaigns } from "./campaigns.mjs";

const { campaign: name, seed } = JSON.parse(process.argv[2]);
const { run, size = 1, most, seconds } = campaigns[name];
let steps = 0;
let problem;

function visit(problems) {
  steps += size;
  problem = problems[0];
  return problem === undefined && steps < most && cpuSeconds() < seconds;
}

try {
  await run(seed, visit);
} catch (error) {
  // A campaign that ends with an error has found something too.
  steps += size;
  problem = String(error?.stack ?? error);
}
if (process.env.KEYWRIGHT_PLANTED !== globalThis.plantedFault)
  throw new Error(`The campaign ${name} does not load the file of the fault.`);
const result = { steps, seconds: cpuSeconds(), problem: problem?.slice(0, 500) };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());

/** CPU time of this process, and on Linux of the processes that it has started and that ended. */
function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childSeconds();
}

function childSeconds() {
  if (process.platform !== "linux") return 0;
  // After the name of the program, which may contain spaces, in ticks of a hundredth of a second.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
