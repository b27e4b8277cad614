// Runs each fault several times and prints figures: node test/faults/print-faults.mjs 10
import { join } from "node:path";
import { createViteServer } from "vitest/node";

const rounds = Number(process.argv[2] ?? 10);
const vite = await createViteServer({
  root: join(import.meta.dirname, ".."),
  configFile: false,
  logLevel: "error",
  server: { middlewareMode: true, ws: false },
});
const { faults, faultSettings, runFault } = await vite.ssrLoadModule("/faults/run-fault.ts");
const { PostgresServer } = await vite.ssrLoadModule("/server/postgres-server.ts");
const names = process.argv[3] === undefined ? Object.keys(faults) : [process.argv[3]];

for (const name of names) {
  const gaps = [];
  const errors = {};
  const contradictions = { lost: 0, duplicated: 0, "out of order": 0, inconsistent: 0 };
  let commits = 0;
  for (let round = 0; round < rounds; round++) {
    const server = await PostgresServer.start(faultSettings);
    const run = await runFault(name, server).finally(() => server.remove());
    gaps.push(run.longestGap);
    commits += run.commits;
    for (const kind of run.contradictions) contradictions[kind]++;
    for (const [code, count] of Object.entries(run.errors)) {
      errors[code] = (errors[code] ?? 0) + count;
    }
  }
  gaps.sort((a, b) => a - b);
  console.log(
    `${name}: ${rounds} runs, ${commits} commits, ${gaps[gaps.length >> 1]} ms without a commit (median), ${gaps.at(-1)} ms at most, ${JSON.stringify(contradictions)}, errors ${JSON.stringify(errors)}`,
  );
  if (Object.values(contradictions).some((count) => count > 0)) process.exitCode = 1;
}
await vite.close();
