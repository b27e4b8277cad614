// Runs scripts with one fault each, in a process that has loaded fail-calls.c. fault-campaign.mjs
// starts it, and names the module of the scripts. Prints the number of each run before it, and the
// result after it, as JSON.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { FaultSwitch } from "./fault-switch.mjs";

const { folder, control, runs, first, module } = JSON.parse(process.argv[2]);
const { FaultScript } = await import(module);
const faultSwitch = new FaultSwitch(control);
let problems = [];
process.on("unhandledRejection", (error) => {
  problems.push(`unhandled rejection: ${error?.stack ?? error}`);
});
for (const [i, { fault, script }] of runs.entries()) {
  const path = join(folder, String(first + i));
  console.log(JSON.stringify({ begins: i }));
  const run = new FaultScript(path, script);
  problems = run.problems;
  faultSwitch.set(fault);
  await run.work();
  const { failed, made } = faultSwitch.unset();
  await run.examine();
  await rm(path, { recursive: true, force: true });
  console.log(JSON.stringify({ ends: i, failed, made, problems, refusals: run.refusals }));
}
process.exit();
