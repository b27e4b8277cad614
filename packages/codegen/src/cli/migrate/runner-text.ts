import type { RunnerStatus } from "@keywright/orm";

/** Returns a sentence about the run that holds the lease of a database. */
export function runnerText({ id, host, since, alive }: RunnerStatus): string {
  const run = `Run ${id} on ${host}, started at ${since.toISOString()},`;
  return alive ? `${run} is active.` : `${run} was killed. The next run continues its work.`;
}
