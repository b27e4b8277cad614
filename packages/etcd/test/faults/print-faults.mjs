// Runs each fault several times and prints figures, with fsync: node test/faults/print-faults.mjs 10
import { faults, runFault } from "./run-fault.mjs";

const rounds = Number(process.argv[2] ?? 10);
const names = process.argv[3] === undefined ? Object.keys(faults) : [process.argv[3]];

for (const name of names) {
  const gaps = [];
  const clientGaps = [];
  let commits = 0;
  const errors = {};
  for (let round = 0; round < rounds; round++) {
    const run = await runFault(name, { sync: true });
    for (const problem of run.contradictions) {
      console.error(`${name}: ${problem}`);
      process.exitCode = 1;
    }
    gaps.push(run.longestGap);
    clientGaps.push(run.longestClientGap);
    commits += run.commits;
    for (const [code, count] of Object.entries(run.errors)) {
      errors[code] = (errors[code] ?? 0) + count;
    }
  }
  console.log(
    `${name}: ${commits} commits in ${rounds} runs, ${spread(gaps)} ms without a commit, ${spread(clientGaps)} ms of the client that waited longest, errors ${JSON.stringify(errors)}`,
  );
}

/** Returns the median and the maximum. */
function spread(values) {
  values.sort((a, b) => a - b);
  return `${values[values.length >> 1]} (at most ${values.at(-1)})`;
}
