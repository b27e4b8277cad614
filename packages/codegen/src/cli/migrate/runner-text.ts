import type { RunnerStatus } from "@keywright/orm";

/** Returns a sentence about the run that holds the lease of a database. */
export function runnerText({ id, host, since, alive }: RunnerStatus): string {
  const run = `Run ${id} on ${host}, begun at ${since.toISOString()},`;
  return alive ? `${run} is at work.` : `${run} has ended without a word: the next run takes over.`;
}
