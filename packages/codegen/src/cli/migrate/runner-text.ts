import type { RunnerStatus } from "@keywright/orm";

/** Who works at a database's schema, in a sentence. */
export function runnerText({ id, host, since, alive }: RunnerStatus): string {
  const who = `Run ${id} on ${host}, begun at ${since.toISOString()},`;
  return alive ? `${who} is at work.` : `${who} has ended without a word: the next run takes over.`;
}
