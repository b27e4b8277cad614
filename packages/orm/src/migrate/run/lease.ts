import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  AtomicOperation,
  Kv,
  KvCommitError,
  KvCommitResult,
  KvKey,
  KvLimits,
} from "@keywright/core";
import { ulid } from "@keywright/core";
import { LeaseLostError } from "../../errors/migration-errors.js";
import { ownPrefix } from "../../model/compiled-model.js";

/** Where it is written who works at the database's schema. */
export const leaseKey: KvKey = [ownPrefix, "lease"];

/** What stands there while somebody does. */
export interface StoredLease {
  readonly format: 1;
  /** Tells the run from others. */
  readonly runner: string;
  /** Tells the process from others. */
  readonly process: string;
  readonly host: string;
  readonly takenAt: Date;
  /** By the clock of its holder, which others may only take as a hint. */
  readonly expiresAt: Date;
  /** So many milliseconds it has to be unchanged for another to take it over. */
  readonly timeToLive: number;
}

/** How a lease is taken. */
export interface LeaseOptions {
  /** Waits for another runner's end. */
  readonly wait: boolean;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; 15 seconds without it. It is renewed when a third of them has passed. */
  readonly timeToLive?: number | undefined;
}

/** A lease as it was read for the first time with this versionstamp. */
interface Watched {
  readonly versionstamp: string | null;
  /** By the monotonic clock, in milliseconds. */
  readonly since: number;
}

const defaultTimeToLive = 15_000;
/** For so long others are taken to go on writing, in milliseconds. */
const othersMemory = 500;
/** So many commits between two of the run's own are those of writers at work. */
const fewCommits = 3;
/** Milliseconds between two looks at another's lease: the first, and the longest. */
const firstPause = 5;
const longestPause = 250;

/** This process among those that have the database open. */
const ownProcess = ulid();
/** The runners of this process that have not ended. */
const ownRunners = new Set<string>();

/**
 * The right to change a database's schema, which one runner has at a time. What is committed through it is refused as soon
 * as another runner has taken it over, however late this one notices.
 */
export class Lease {
  readonly #kv: Kv;
  #stored: StoredLease;
  #versionstamp: string;
  #renewedAt: number;
  /** The number of the last commit through it, by its versionstamp, and when that was made. */
  #lastCommit: { readonly sequence: number; readonly at: number };
  /** When others were last seen to write, by the monotonic clock. */
  #othersSeenAt = Number.NEGATIVE_INFINITY;
  /** The end of the call before: each needs the versionstamp that the one before it leaves. */
  #turn: Promise<unknown> = Promise.resolve();

  /** Of one that was taken: see {@link takeLease}. */
  constructor(kv: Kv, stored: StoredLease, versionstamp: string, takenAt: number) {
    this.#kv = kv;
    this.#stored = stored;
    this.#versionstamp = versionstamp;
    this.#renewedAt = takenAt;
    this.#lastCommit = { sequence: sequenceOf(versionstamp), at: takenAt };
  }

  /** Tells the run from others. */
  get runner(): string {
    return this.#stored.runner;
  }

  /**
   * Commits an operation on condition that the lease is still held, and renews the lease with it where a third of its time
   * is gone. That is one check more, and at times one change more.
   *
   * @returns `{ ok: false }` where another check of the operation failed.
   * @throws {LeaseLostError} where another runner has the lease. Nothing was written.
   * @throws what the commit throws.
   */
  commit(operation: AtomicOperation): Promise<KvCommitResult | KvCommitError> {
    return this.#inTurn(() => this.#commit(operation));
  }

  /**
   * Renews the lease where a third of its time is gone: for those who read for long.
   *
   * @throws {LeaseLostError} where another runner has it.
   */
  async renew(): Promise<void> {
    if (!this.#isDue()) return;
    await this.#inTurn(async () => {
      while (this.#isDue()) await this.#commit(this.#kv.atomic());
    });
  }

  /** Whether others have been writing just now: versionstamps count their commits too. */
  get othersWrite(): boolean {
    return performance.now() - this.#othersSeenAt < othersMemory;
  }

  /**
   * Writes the lease anew where nothing was committed through it for a while, so that {@link othersWrite} holds: for those who
   * read for long beside others.
   *
   * @throws {LeaseLostError} where another runner has it.
   */
  async lookAround(): Promise<void> {
    if (performance.now() - this.#lastCommit.at < othersMemory / 2) return;
    await this.#inTurn(() => this.#commit(this.#kv.atomic(), true));
  }

  /** Gives the lease back. Where that fails it ends by itself, when its time is over. */
  async release(): Promise<void> {
    ownRunners.delete(this.runner);
    try {
      await this.#inTurn(async () => {
        const { value, ...held } = await this.#kv.get<StoredLease>(leaseKey);
        if (value?.runner !== this.runner) return;
        await this.#kv.atomic().check(held).delete(leaseKey).commit();
      });
    } catch {
      // What the run itself threw says more.
    }
  }

  #isDue(): boolean {
    return performance.now() - this.#renewedAt >= this.#stored.timeToLive / 3;
  }

  async #commit(
    operation: AtomicOperation,
    renews = this.#isDue(),
  ): Promise<KvCommitResult | KvCommitError> {
    operation.check({ key: leaseKey, versionstamp: this.#versionstamp });
    const now = performance.now();
    const renewed = renews ? renewedLease(this.#stored) : undefined;
    if (renewed !== undefined) operation.set(leaseKey, renewed);
    const result = await operation.commit();
    if (result.ok) this.#notice(result.versionstamp);
    if (!result.ok) await this.#assertHeld();
    else if (renewed !== undefined) {
      this.#stored = renewed;
      this.#versionstamp = result.versionstamp;
      this.#renewedAt = now;
    }
    return result;
  }

  #notice(versionstamp: string): void {
    const sequence = sequenceOf(versionstamp);
    const at = performance.now();
    const others = sequence - this.#lastCommit.sequence - 1;
    if (others >= fewCommits) this.#othersSeenAt = at;
    this.#lastCommit = { sequence, at };
  }

  async #assertHeld(): Promise<void> {
    const { value, versionstamp } = await this.#kv.get<StoredLease>(leaseKey);
    if (versionstamp === null || value.runner !== this.runner) throw new LeaseLostError();
    // It is another one where a renewal was written whose commit threw.
    this.#versionstamp = versionstamp;
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(run);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/**
 * Takes the lease of a database, or finds out that another runner has it. That one is dead when its lease has not changed
 * for as long as it may live by this process's own clock, wherever the other's clock stands; and at once where it was a runner
 * of this process that has ended, or of another process and only one can have the database open.
 *
 * @returns `"busy"` where another runner has it and is not waited for, `"stopped"` where the signal ended the waiting.
 */
export async function takeLease(
  kv: Kv & { readonly limits?: KvLimits },
  { wait, signal, timeToLive = defaultTimeToLive }: LeaseOptions,
): Promise<Lease | "busy" | "stopped"> {
  let watched: Watched | undefined;
  for (let looks = 0; ; looks++) {
    if (signal?.aborted) return "stopped";
    const { value, versionstamp } = await kv.get<StoredLease>(leaseKey);
    const now = performance.now();
    const hasChanged = watched !== undefined && watched.versionstamp !== versionstamp;
    if (watched === undefined || hasChanged) watched = { versionstamp, since: now };
    if (value === null || isDead(kv, value) || now - watched.since >= value.timeToLive) {
      const lease = await tryToTake(kv, versionstamp, timeToLive);
      if (lease !== undefined) return lease;
      continue;
    }
    // Where it looks as if it had run out, only watching it tells.
    const isAlive = hasChanged || ownRunners.has(value.runner) || value.expiresAt > new Date();
    if (!wait && isAlive) return "busy";
    const longest = Math.max(firstPause, value.timeToLive - (now - watched.since));
    await pause(Math.min(firstPause * 2 ** looks, longestPause, longest), signal);
  }
}

async function tryToTake(
  kv: Kv,
  versionstamp: string | null,
  timeToLive: number,
): Promise<Lease | undefined> {
  const runner = ulid();
  const now = performance.now();
  const takenAt = new Date();
  const stored = renewedLease({
    format: 1,
    runner,
    process: ownProcess,
    host: hostname(),
    takenAt,
    expiresAt: takenAt,
    timeToLive,
  });
  // Before others in this process can see it.
  ownRunners.add(runner);
  try {
    const operation = kv.atomic().check({ key: leaseKey, versionstamp }).set(leaseKey, stored);
    const result = await operation.commit();
    if (result.ok) return new Lease(kv, stored, result.versionstamp, now);
  } catch (error) {
    ownRunners.delete(runner);
    throw error;
  }
  ownRunners.delete(runner);
  return undefined;
}

/** Whether it is known, without any waiting, that the holder of a lease works no more. */
export function isDead(kv: Kv & { readonly limits?: KvLimits }, lease: StoredLease): boolean {
  if (lease.process === ownProcess) return !ownRunners.has(lease.runner);
  // A database that states its limits is one that this process owns.
  return kv.limits !== undefined;
}

/** The number of a commit: the first eight bytes of its versionstamp count them, of which six are a number without loss. */
function sequenceOf(versionstamp: string): number {
  return Number.parseInt(versionstamp.slice(4, 16), 16);
}

function renewedLease(lease: StoredLease): StoredLease {
  return { ...lease, expiresAt: new Date(Date.now() + lease.timeToLive) };
}

/** Waits so many milliseconds, or until the signal. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal && { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
