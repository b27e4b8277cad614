import {
  type AtomicOperation,
  type Kv,
  type KvCommitError,
  type KvCommitResult,
  type KvKey,
  ReadOnlyError,
  ulid,
} from "@keywright/core";
import { hostname, sleep } from "@keywright/core/platform";
import { LeaseLostError } from "../../errors/migration-errors.js";
import { systemPrefix } from "../../model/compiled-model.js";
import { count, date, object, text } from "../../model/shape.js";
import { capabilitiesOf } from "../catalog/capabilities-of.js";
import { readSystemValue, type SystemShape, systemValue } from "../catalog/system-value.js";
import { isLimitError } from "../transaction/limit-error-of.js";
import { again, retry } from "../transaction/retry.js";

export const leaseKey: KvKey = [systemPrefix, "lease"];

/** The lease as it is stored. It is deleted when it is released. */
export interface StoredLease {
  readonly format: 1;
  /** Identifies the run. */
  readonly runner: string;
  /** Identifies the process. */
  readonly process: string;
  readonly host: string;
  readonly takenAt: Date;
  /** By the clock of the holder. For other processes it is only a hint. */
  readonly expiresAt: Date;
  /** Another runner may take over a lease that has not changed for this many milliseconds. */
  readonly timeToLive: number;
}

const leaseShape: SystemShape<StoredLease> = {
  problemOf: object({
    runner: text,
    process: text,
    host: text,
    takenAt: date,
    expiresAt: date,
    timeToLive: count,
  }),
  remedy: "make sure that no migration is running, and delete it",
};

export async function readLease(kv: Kv): Promise<StoredLease | null> {
  return await readSystemValue(kv, leaseKey, leaseShape, "");
}

export interface BatchResult {
  readonly ok: boolean;
  /** The error of the database if the batch is too large for one commit. */
  readonly tooLarge?: unknown;
}

interface LeaseOptions {
  /** Waits if another runner holds the lease. */
  readonly wait: boolean;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** In milliseconds; 15,000 by default. The lease is renewed when a third of it has passed. */
  readonly timeToLive?: number | undefined;
}

/** A version of the lease, and when this process first read it. */
interface ObservedLease {
  readonly versionstamp: string | null;
  /** In milliseconds of the monotonic clock. */
  readonly since: number;
}

const defaultTimeToLive = 15_000;
/** Others count as writing for this many milliseconds after their commits were noticed. */
const otherWritersWindow = 500;
/** This many commits of others between two commits of the run show that they are writing. */
const minOtherCommits = 3;
/** The first and the longest pause between two reads of another runner's lease, in milliseconds. */
const minPause = 5;
const maxPause = 250;

let idOfProcess: string | undefined;
/**
 * Identifies this process among those that have the database open. Drawn by the first call, because
 * workerd refuses random numbers while modules are loaded.
 */
function currentProcess(): string {
  idOfProcess ??= ulid();
  return idOfProcess;
}
/** The runners of this process that have not ended. */
const activeRunners = new Set<string>();

/**
 * The right to change a database's schema. One runner holds it at a time. As soon as another runner
 * has taken the lease over, commits through it fail, even if its former holder has not noticed yet.
 */
export class Lease {
  readonly #kv: Kv;
  #stored: StoredLease;
  #versionstamp: string;
  #renewedAt: number;
  /** The last commit through the lease: its number, and its time by the monotonic clock. */
  #lastCommit: { readonly sequence: number; readonly at: number };
  /** When commits of others were last noticed, in milliseconds of the monotonic clock. */
  #othersSeenAt = Number.NEGATIVE_INFINITY;
  /** Each call needs the versionstamp that the previous one leaves. */
  #lastCall: Promise<unknown> = Promise.resolve();

  constructor(kv: Kv, stored: StoredLease, versionstamp: string, takenAt: number) {
    this.#kv = kv;
    this.#stored = stored;
    this.#versionstamp = versionstamp;
    this.#renewedAt = takenAt;
    this.#lastCommit = { sequence: sequenceOf(versionstamp), at: takenAt };
  }

  /** Identifies the run. */
  get runner(): string {
    return this.#stored.runner;
  }

  /** False if the run only reads: see {@link UnheldLease}. */
  get isHeld(): boolean {
    return true;
  }

  /**
   * Commits an operation if the lease is still held. Adds a check of the lease to the operation,
   * and a mutation that renews the lease if a third of its time has passed.
   *
   * @returns `{ ok: false }` if another check of the operation failed.
   * @throws {LeaseLostError} if another runner holds the lease. Nothing was written.
   * @throws any error of the commit.
   */
  commit(operation: AtomicOperation): Promise<KvCommitResult | KvCommitError> {
    return this.#runInTurn(() => this.#commit(operation));
  }

  /**
   * Commits the writes for a batch of rows. A row may have any number of entries, so even one row
   * may be too large for one commit.
   *
   * @param build returns the operation. It may throw, because a database may reject an operation
   * that is too large before the commit.
   */
  async commitBatch(build: () => AtomicOperation): Promise<BatchResult> {
    try {
      const { ok } = await this.commit(build());
      return { ok };
    } catch (tooLarge) {
      if (!isLimitError(tooLarge)) throw tooLarge;
      return { ok: false, tooLarge };
    }
  }

  /**
   * Commits an operation that has no checks but that of the lease. If the commit fails while the
   * lease is held, it is tried again.
   *
   * @param fill adds the mutations, once for each attempt.
   * @throws {LeaseLostError} if another runner holds the lease. Nothing was written.
   */
  async write(fill: (operation: AtomicOperation) => void): Promise<void> {
    await retry(async () => {
      const operation = this.#kv.atomic();
      fill(operation);
      return (await this.commit(operation)).ok ? undefined : again;
    });
  }

  /**
   * Renews the lease if a third of its time has passed. Long reads without a commit must call this.
   *
   * @throws {LeaseLostError} if another runner holds the lease.
   */
  async renew(): Promise<void> {
    if (!this.#isDue()) return;
    await this.#runInTurn(async () => {
      while (this.#isDue()) await this.#commit(this.#kv.atomic());
    });
  }

  /** True if others have written recently, as gaps between versionstamps show. */
  get hasOtherWriters(): boolean {
    return performance.now() - this.#othersSeenAt < otherWritersWindow;
  }

  /**
   * Renews the lease if nothing was committed through it for a while, so that
   * {@link hasOtherWriters} stays up to date during long reads.
   *
   * @throws {LeaseLostError} if another runner holds the lease.
   */
  async probeOtherWriters(): Promise<void> {
    if (performance.now() - this.#lastCommit.at < otherWritersWindow / 2) return;
    await this.#runInTurn(() => this.#commit(this.#kv.atomic(), true));
  }

  /** Releases the lease. If this fails, the lease ends when its time is over. */
  async release(): Promise<void> {
    activeRunners.delete(this.runner);
    try {
      await this.#runInTurn(async () => {
        const { value, ...held } = await this.#kv.get<StoredLease>(leaseKey);
        if (value?.runner !== this.runner) return;
        await this.#kv.atomic().check(held).delete(leaseKey).commit();
      });
    } catch {
      // An error of the run itself is more useful.
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
    if (result.ok) this.#noteCommit(result.versionstamp);
    if (!result.ok) await this.#assertHeld();
    else if (renewed !== undefined) {
      this.#stored = renewed;
      this.#versionstamp = result.versionstamp;
      this.#renewedAt = now;
    }
    return result;
  }

  #noteCommit(versionstamp: string): void {
    const sequence = sequenceOf(versionstamp);
    const at = performance.now();
    const otherCommits = sequence - this.#lastCommit.sequence - 1;
    if (otherCommits >= minOtherCommits) this.#othersSeenAt = at;
    this.#lastCommit = { sequence, at };
  }

  async #assertHeld(): Promise<void> {
    const { value, versionstamp } = await this.#kv.get<StoredLease>(leaseKey);
    if (versionstamp === null || value?.runner !== this.runner) throw new LeaseLostError();
    // A renewal whose commit threw may have been written. Then the versionstamp has changed.
    this.#versionstamp = versionstamp;
  }

  #runInTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#lastCall.then(run);
    this.#lastCall = result.catch(() => undefined);
    return result;
  }
}

/**
 * Stands for the lease in a run that only reads. Nothing is stored, so other runners can begin at
 * any time, and what the run would store is lost.
 */
class UnheldLease extends Lease {
  constructor(kv: Kv) {
    const now = new Date();
    const about = { format: 1, process: currentProcess(), host: hostname() } as const;
    const times = { takenAt: now, expiresAt: now, timeToLive: defaultTimeToLive };
    super(kv, { ...about, ...times, runner: "" }, "0".repeat(20), performance.now());
  }

  override get isHeld(): boolean {
    return false;
  }

  override get hasOtherWriters(): boolean {
    return false;
  }

  override commit(): never {
    throw new ReadOnlyError("commit");
  }

  override async write(): Promise<void> {}

  override async renew(): Promise<void> {}

  override async probeOtherWriters(): Promise<void> {}

  override async release(): Promise<void> {}
}

/** True if a runner holds the lease, as far as that can be told without waiting. */
export async function isRunnerAlive(kv: Kv): Promise<boolean> {
  const lease = await readLease(kv);
  return lease !== null && !hasHolderEnded(kv, lease) && lease.expiresAt > new Date();
}

/**
 * Waits until no runner holds the lease.
 *
 * @returns `"busy"` if one does and `wait` is false, `"stopped"` if the signal ended the wait.
 */
export async function awaitRunner(
  kv: Kv,
  { wait, signal }: Pick<LeaseOptions, "wait" | "signal">,
): Promise<Lease | "busy" | "stopped"> {
  for (;;) {
    if (signal?.aborted) return "stopped";
    if (!(await isRunnerAlive(kv))) return new UnheldLease(kv);
    if (!wait) return "busy";
    await pause(maxPause, signal);
  }
}

/**
 * Takes the lease of a database. Takes it over from another runner in these cases:
 *
 * - The lease has not changed for its time to live, by this process's clock. It does not matter how
 *   the other runner's clock is set.
 * - The other runner belonged to this process and has ended.
 * - The other runner belongs to another process, but only one process can have the database open,
 *   because it states its limits and is not shared.
 *
 * @returns `"busy"` if another runner holds the lease and `wait` is false, `"stopped"` if the
 * signal ended the wait.
 */
export async function takeLease(
  kv: Kv,
  { wait, signal, timeToLive = defaultTimeToLive }: LeaseOptions,
): Promise<Lease | "busy" | "stopped"> {
  let observed: ObservedLease | undefined;
  for (let attempt = 0; ; attempt++) {
    if (signal?.aborted) return "stopped";
    const stored = await kv.get(leaseKey);
    const { versionstamp } = stored;
    const value = systemValue(stored, leaseShape, "");
    const now = performance.now();
    const hasChanged = observed !== undefined && observed.versionstamp !== versionstamp;
    if (observed === undefined || hasChanged) observed = { versionstamp, since: now };
    if (value === null || hasHolderEnded(kv, value) || now - observed.since >= value.timeToLive) {
      const lease = await tryToTake(kv, versionstamp, timeToLive);
      if (lease !== undefined) return lease;
      continue;
    }
    // If the lease seems to have expired, only waiting shows if its holder still renews it.
    const isAlive = hasChanged || activeRunners.has(value.runner) || value.expiresAt > new Date();
    if (!wait && isAlive) return "busy";
    const remaining = Math.max(minPause, value.timeToLive - (now - observed.since));
    await pause(Math.min(minPause * 2 ** attempt, maxPause, remaining), signal);
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
    process: currentProcess(),
    host: hostname(),
    takenAt,
    expiresAt: takenAt,
    timeToLive,
  });
  // Runners of this process that read the lease must find its holder here, or they take it over.
  activeRunners.add(runner);
  try {
    const operation = kv.atomic().check({ key: leaseKey, versionstamp }).set(leaseKey, stored);
    const result = await operation.commit();
    if (result.ok) return new Lease(kv, stored, result.versionstamp, now);
  } catch (error) {
    activeRunners.delete(runner);
    throw error;
  }
  activeRunners.delete(runner);
  return undefined;
}

/** True if it is known without waiting that the holder of a lease has ended. */
export function hasHolderEnded(kv: Kv, lease: StoredLease): boolean {
  if (lease.process === currentProcess()) return !activeRunners.has(lease.runner);
  return capabilitiesOf(kv).isLocal;
}

/**
 * Returns the number of a commit, which is the first 8 bytes of its versionstamp. The last 6 of
 * them are enough, and a JavaScript number represents them exactly.
 */
function sequenceOf(versionstamp: string): number {
  return Number.parseInt(versionstamp.slice(4, 16), 16);
}

function renewedLease(lease: StoredLease): StoredLease {
  return { ...lease, expiresAt: new Date(Date.now() + lease.timeToLive) };
}

/** Waits until the time has passed or the signal is aborted. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal && { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
