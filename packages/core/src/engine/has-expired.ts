import type { StoredEntry } from "./engine.js";

/** Whether an entry is not there any more at a time: milliseconds since the epoch. */
export function hasExpired({ expireAt }: Pick<StoredEntry, "expireAt">, now: number): boolean {
  return expireAt !== undefined && expireAt <= now;
}
