import type { AtomicCheck, AtomicOperation, KvKey } from "@keywright/core";
import type { IndexEntry } from "../model/keys/index-entries.js";
import { currentTime, type RowExpiry, type Time, timeAfter } from "../model/rows/time.js";
import { type SetUntilOptions, setUntil } from "../state/transaction/buffer/set-until.js";

/** A write of a commit. */
export type Write =
  | { readonly type: "delete"; readonly key: KvKey }
  /** Adds to a number. It wraps around, so that it can subtract. */
  | { readonly type: "sum"; readonly key: KvKey; readonly by: bigint }
  | {
      readonly type: "set";
      readonly key: KvKey;
      readonly value: unknown;
      /** Undefined if the entry does not expire. */
      readonly expiry?: RowExpiry | undefined;
    };

/** Writes that contain the time at which a row expires. It is known when the commit is made. */
export interface TimedWrites {
  readonly type: "timed";
  readonly expiry: RowExpiry;
  readonly writesUntil: (end: Time) => readonly Write[];
}

/**
 * Work that follows a commit, such as splitting an interval. The commit does not depend on it: if
 * the process dies before it, a later commit or a migration does it.
 */
export type Upkeep = () => Promise<void>;

/** What a commit checks and writes for a change, beyond the check of the catalog. */
export class Effects {
  readonly checks: AtomicCheck[];
  /** Entries of unique indexes whose keys must be free, unless a check allows to take them. */
  readonly claims: IndexEntry[] = [];
  readonly writes: (Write | TimedWrites)[] = [];
  readonly upkeep: Upkeep[] = [];

  constructor(checks: AtomicCheck[] = []) {
    this.checks = checks;
  }
}

/** How many times an operation is built before it is used although its lifetimes are late. */
const maxTries = 3;

/**
 * Builds the operation of a commit that is made at once. An entry with an expiry time gets the
 * lifetime that is left to it, in whole milliseconds. If a millisecond ends while the operation is
 * built, it is built again: the entry would otherwise live a millisecond longer after each such
 * change.
 *
 * @param build builds the operation for a time.
 */
export function inOneMillisecond<T>({ writes }: Effects, build: (now: Time) => T): T {
  const keepsLifetime = writes.some(
    (write) => "expiry" in write && write.expiry?.expireAt !== undefined,
  );
  for (let tries = 1; ; tries++) {
    const now = currentTime();
    const operation = build(now);
    if (!keepsLifetime || tries === maxTries || currentTime() === now) return operation;
  }
}

/** Returns the writes of a commit that is made at a time. */
export function writesAt(writes: readonly (Write | TimedWrites)[], now: Time): readonly Write[] {
  if (!writes.some(({ type }) => type === "timed")) return writes as readonly Write[];
  return writes.flatMap((write) =>
    write.type === "timed" ? write.writesUntil(endOf(write.expiry, now)) : write,
  );
}

/** Adds writes to an operation that is committed at a time. */
export function addWrites(operation: AtomicOperation, writes: readonly Write[], now: Time): void {
  for (const write of writes) {
    if (write.type === "delete") operation.delete(write.key);
    else if (write.type === "sum") operation.sum(write.key, write.by);
    else operation.set(write.key, write.value, expiryOptions(write.expiry, now));
  }
}

/** Returns when a row expires that is committed at `now`. */
function endOf(expiry: RowExpiry, now: Time): Time {
  return expiry.expireAt ?? timeAfter(now, expiry.expireIn);
}

/**
 * Returns the options for setting an entry in a commit that is made `now`. If its time is already
 * over, one millisecond is left. The checks of the commit detect a row that has gone since.
 */
function expiryOptions(expiry: RowExpiry | undefined, now: Time): SetUntilOptions | undefined {
  if (expiry === undefined) return undefined;
  return expiry.expireAt === undefined
    ? { expireIn: expiry.expireIn }
    : setUntil(expiry.expireAt, now);
}
