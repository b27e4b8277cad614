// Runs each fault several times and prints figures: node test/faults/print-faults.mjs 10
import { faults, runFault } from "./run-fault.mjs";

const rounds = Number(process.argv[2] ?? 10);
const names = process.argv[3] === undefined ? Object.keys(faults) : [process.argv[3]];

for (const name of names) {
  const gaps = [];
  let commits = 0;
  const errors = {};
  for (let round = 0; round < rounds; round++) {
    const run = await runFault(name);
    for (const problem of run.contradictions) {
      console.error(`${name}: ${problem}`);
      process.exitCode = 1;
    }
    gaps.push(run.longestGap);
    commits += run.commits;
    for (const [code, count] of Object.entries(run.errors)) {
      errors[code] = (errors[code] ?? 0) + count;
    }
  }
  gaps.sort((a, b) => a - b);
  const median = gaps[gaps.length >> 1];
  console.log(
    `${name}: ${commits} commits in ${rounds} runs, ${median} ms without a commit (median), ${gaps.at(-1)} ms at most, errors ${JSON.stringify(errors)}`,
  );
}
