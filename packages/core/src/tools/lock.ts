import { sleep, unref } from "#platform";
import { LockLostError, LockTakenError } from "../errors/tool-errors.js";
import type { KvKey } from "../keys/key.js";
import type { Kv, KvEntryMaybe, KvLike } from "../kv/kv.js";
import { linesOf } from "./line.js";
import { assertMilliseconds, longestTimer } from "./milliseconds.js";

/** Options of {@link withLock}. */
export interface LockOptions {
  /**
   * Milliseconds after which the lock is free if its process has ended or stands still. While the
   * task runs, the lease is renewed. The default is 30,000, the least is 100.
   */
  readonly lease?: number;
  /** Milliseconds to wait for a lock that is taken. The default is 24 days. */
  readonly waitFor?: number;
  /** Ends the wait for the lock with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** A lock, as its task gets it. */
export interface HeldLock {
  /**
   * A check for `atomic().check(…)`: it holds only as long as the lock is held. A task that was
   * stopped and goes on after another holder has taken the lock cannot commit with it.
   */
  readonly check: { readonly key: KvKey; readonly versionstamp: string };
  /**
   * Larger than those of all earlier holders of the lock. For systems outside the database. It is a
   * versionstamp, so the tokens of a copied or moved database begin again.
   */
  readonly token: string;
  /** Aborted with a {@link LockLostError} when the lock is lost. */
  readonly signal: AbortSignal;
}

/** The value of a lease. */
interface Lease {
  /** Milliseconds since the epoch. Some databases return entries for a while after they expire. */
  readonly until: number;
  /** Milliseconds. */
  readonly lease: number;
}

/**
 * Runs a task while no other task of any process runs under the same key. Within a process, tasks
 * run in the order of the calls. A task that takes the lock which it has waits for itself.
 *
 * The lock is two entries: `key` with the parts `"holder"` and `"lease"`. The lease expires.
 *
 * ```ts
 * await withLock(kv, ["locks", "report"], async ({ check, signal }) => {
 *   const report = await makeReport(signal);
 *   await kv.atomic().check(check).set(["report"], report).commit();
 * });
 * ```
 *
 * @returns what the task returns.
 * @throws {LockTakenError} if the lock is taken for longer than `waitFor`.
 * @throws {LockLostError} if the lock was lost before the task has ended.
 * @throws {InvalidOptionError} if an option is not valid.
 */
export async function withLock<T>(
  kv: KvLike,
  key: KvKey,
  task: (lock: HeldLock) => Promise<T> | T,
  { lease = 30_000, waitFor = longestTimer, signal }: LockOptions = {},
): Promise<T> {
  assertMilliseconds("lease", lease, { least: 100, most: longestTimer }, "withLock");
  assertMilliseconds("waitFor", waitFor, { least: 0, most: longestTimer }, "withLock");
  const deadline = performance.now() + waitFor;
  const leave = await linesOf(kv).enter(key, { deadline, signal });
  if (leave === undefined) throw new LockTakenError(key);
  try {
    const lock = await Lock.take(kv as Kv, key, { lease, deadline, signal });
    return await lock.run(task);
  } finally {
    leave();
  }
}

class Lock {
  readonly #kv: Kv;
  readonly #key: KvKey;
  readonly #lease: number;
  readonly #check: HeldLock["check"];
  readonly #lost = new AbortController();
  /** The end of the lease, in milliseconds of the monotonic clock. */
  #end: number;
  #renewal: NodeJS.Timeout | undefined;
  /** Runs if the lease ends while the database does not answer. */
  #lastCall: NodeJS.Timeout | undefined;
  /** Why the last renewal or the release failed. */
  #failure: unknown;
  #isReleased = false;

  /** Waits until the lock is free, and takes it. */
  static async take(
    kv: Kv,
    key: KvKey,
    options: {
      readonly lease: number;
      readonly deadline: number;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Lock> {
    const { lease, deadline, signal } = options;
    const [holderKey, leaseKey] = [
      [...key, "holder"],
      [...key, "lease"],
    ] as const;
    let seen: SeenLease = { versionstamp: null, end: 0 };
    for (;;) {
      signal?.throwIfAborted();
      const [holder, taken] = await kv.getMany<[unknown, Lease]>([holderKey, leaseKey]);
      seen = seenLease(taken, seen);
      const left = Math.min(remaining(taken), seen.end - performance.now());
      if (left <= 0) {
        const end = performance.now() + lease;
        const result = await kv
          .atomic()
          .check(holder, taken)
          .set(holderKey, { since: Date.now() })
          .set(leaseKey, leaseFor(lease), { expireIn: Math.ceil(lease) })
          .commit();
        if (!result.ok) continue;
        const { versionstamp } = result;
        const lock = new Lock(kv, key, { lease, end, versionstamp });
        if (await lock.#isHeld()) return lock;
        continue;
      }
      const patience = Math.min(left, deadline - performance.now());
      if (deadline <= performance.now()) throw new LockTakenError(key);
      await changeOf(kv, taken, patience, signal);
    }
  }

  private constructor(
    kv: Kv,
    key: KvKey,
    { lease, end, versionstamp }: { lease: number; end: number; versionstamp: string },
  ) {
    this.#kv = kv;
    this.#key = key;
    this.#lease = lease;
    this.#end = end;
    this.#check = { key: [...key, "holder"], versionstamp };
    this.#renewLater();
  }

  async run<T>(task: (lock: HeldLock) => Promise<T> | T): Promise<T> {
    const { signal } = this.#lost;
    let result: T;
    try {
      result = await task({ check: this.#check, token: this.#check.versionstamp, signal });
    } catch (error) {
      await this.#release();
      throw error;
    }
    if (!(await this.#release())) this.#lose();
    signal.throwIfAborted();
    return result;
  }

  /**
   * Renews the lease if a third of it has passed, because the answer to the commit that took the
   * lock came late. Returns false if the lock was lost.
   */
  async #isHeld(): Promise<boolean> {
    if (this.#end - performance.now() >= (2 * this.#lease) / 3) return true;
    clearTimeout(this.#renewal);
    await this.#renew();
    return !this.#lost.signal.aborted;
  }

  #renewLater(): void {
    this.#renewal = setTimeout(() => void this.#renew(), this.#lease / 3);
    unref(this.#renewal);
  }

  async #renew(): Promise<void> {
    const begin = performance.now();
    // The database may not answer. If the process stood still, it gets some time to do so.
    const patience = Math.max(this.#end - begin, this.#lease / 3);
    this.#lastCall ??= unref(setTimeout(() => this.#lose(), patience));
    try {
      const result = await this.#kv
        .atomic()
        .check(this.#check)
        .set([...this.#key, "lease"], leaseFor(this.#lease), { expireIn: Math.ceil(this.#lease) })
        .commit();
      clearTimeout(this.#lastCall);
      this.#lastCall = undefined;
      this.#end = result.ok ? begin + this.#lease : Number.NEGATIVE_INFINITY;
      this.#failure = undefined;
    } catch (error) {
      // The next renewal may succeed, as long as the lease has not ended.
      this.#failure = error;
    }
    if (this.#isReleased || this.#lost.signal.aborted) return;
    if (performance.now() >= this.#end) this.#lose();
    else this.#renewLater();
  }

  #lose(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#lastCall);
    this.#lost.abort(new LockLostError(this.#key, this.#failure));
  }

  /**
   * Frees the lock. If that fails, its lease ends.
   *
   * @returns false if the lock was lost.
   */
  async #release(): Promise<boolean> {
    this.#isReleased = true;
    clearTimeout(this.#renewal);
    clearTimeout(this.#lastCall);
    try {
      const { ok } = await this.#kv
        .atomic()
        .check(this.#check)
        .delete(this.#check.key)
        .delete([...this.#key, "lease"])
        .commit();
      return ok;
    } catch (error) {
      this.#failure = error;
      return performance.now() < this.#end;
    }
  }
}

/** A lease that another holder has. */
interface SeenLease {
  readonly versionstamp: string | null;
  /** When it ends at the latest, in milliseconds of the monotonic clock. */
  readonly end: number;
}

/**
 * A lease that stays the same for as long as it lasts has ended, whatever the clocks of its holder
 * and of this process say.
 */
function seenLease({ value, versionstamp }: KvEntryMaybe<Lease>, before: SeenLease): SeenLease {
  if (versionstamp === before.versionstamp) return before;
  return { versionstamp, end: performance.now() + ((value as Lease | null)?.lease ?? 0) };
}

function leaseFor(milliseconds: number): Lease {
  return { until: Date.now() + milliseconds, lease: milliseconds };
}

/** Returns the milliseconds after which a lease ends. */
function remaining({ value, versionstamp }: KvEntryMaybe<Lease>): number {
  return versionstamp === null ? 0 : (value as Lease).until - Date.now();
}

/** Waits until an entry changes, at most for some milliseconds. */
async function changeOf(
  kv: Kv,
  { key, versionstamp }: KvEntryMaybe<Lease>,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const ended = new AbortController();
  const reader = kv.watch<[Lease]>([key]).getReader();
  const changed = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value[0].versionstamp !== versionstamp) return;
    }
  };
  // Not AbortSignal.any, which keeps memory in Node.js 20 for as long as its first signal lives.
  const end = () => ended.abort();
  signal?.addEventListener("abort", end);
  if (signal?.aborted) end();
  const timer = sleep(Math.ceil(milliseconds) + 1, undefined, { signal: ended.signal });
  try {
    await Promise.race([changed(), timer.catch(() => undefined)]);
  } finally {
    signal?.removeEventListener("abort", end);
    ended.abort();
    await reader.cancel();
  }
}
