import type { KvKey } from "@keywright/core";

const prefix = ["__keywright", "cron"] as const;

/** The first parts of the keys of all crons. */
export const cronPrefix: KvKey = prefix;

/** The keys of the entries of a cron. */
export interface CronKeys {
  /** Which tick comes next, and the schedule by which all processes find those after it. */
  readonly plan: KvKey;
  /** The run that is in progress or that waits for another attempt. It does not change in a run. */
  readonly run: KvKey;
  /** Changes while the process of the run lives. */
  readonly lease: KvKey;
  /** How the last tick has ended. */
  readonly last: KvKey;
}

export function keysOf(name: string): CronKeys {
  const keyOf = (part: string) => [...prefix, name, part];
  return { plan: keyOf("plan"), run: keyOf("run"), lease: keyOf("lease"), last: keyOf("last") };
}
