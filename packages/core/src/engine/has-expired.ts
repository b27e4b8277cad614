import type { StoredEntry } from "./engine.js";

/** True if the entry no longer exists at the time `now`, in milliseconds since the epoch. */
export function hasExpired({ expireAt }: Pick<StoredEntry, "expireAt">, now: number): boolean {
  return expireAt !== undefined && expireAt <= now;
}
