import type { KvKey } from "@keywright/core";
import { systemPrefix } from "../../model/compiled-model.js";

// Keys that workers watch. Each commit that concerns them increments one.

/** How many marks there are. Databases such as Deno KV watch at most ten keys at once. */
const markCount = 8;

/** Returns the mark that changes when a job of a name may run, and sometimes of another name. */
export function markOf(topic: string): number {
  let hash = 0x811c_9dc5;
  for (const character of topic) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x0100_0193);
  return ((hash ^ (hash >>> 16)) >>> 0) % markCount;
}

/** The mark that changes when a running job is cancelled. */
export const cancelMark = "cancel";

/** The number of a mark of jobs that may run, or that of jobs that are cancelled. */
export type Mark = number | typeof cancelMark;

export function markKey(mark: Mark): KvKey {
  return [systemPrefix, "jobs", mark];
}
