import { hostname } from "node:os";
import { pid } from "node:process";
import type { AtomicOperation, Kv } from "@keywright/core";
import { CronRunLostError } from "../errors/cron-errors.js";
import type { CronKeys } from "../state/cron-keys.js";
import {
  type CronPlan,
  type CronState,
  type LastRun,
  recordFormat,
  type StoredLease,
  type StoredRun,
} from "../state/cron-records.js";

/** What a runner needs for its entries. */
export interface RunStore {
  readonly kv: Kv;
  readonly keys: CronKeys;
  readonly name: string;
  /** Identifies the call of `runCrons`. */
  readonly runner: string;
  /** Milliseconds. */
  readonly lease: number;
}

/** An attempt at a tick. */
export interface Attempt {
  readonly tick: number;
  readonly attempt: number;
  /** The tick after it, if the plan moves on. */
  readonly next?: number | undefined;
}

/** A run that this process has. It renews the lease until the run has ended or is lost. */
export class HeldRun {
  readonly stored: StoredRun;
  /** A check that holds as long as this process has the run. */
  readonly check: { readonly key: CronKeys["run"]; readonly versionstamp: string };
  readonly #store: RunStore;
  readonly #losing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** The end of the lease, in milliseconds of the monotonic clock. */
  #end: number;
  #isRenewing = false;
  #isOver = false;

  /**
   * Takes a tick in one commit. Returns undefined if another process was first.
   *
   * @param state as it was read before the decision.
   */
  static async begin(
    store: RunStore,
    { plan, run, lease }: CronState,
    { tick, attempt, next }: Attempt,
  ): Promise<HeldRun | undefined> {
    const { kv, keys, runner } = store;
    const stored = storedRun(store, { tick, attempt });
    const end = performance.now() + store.lease;
    // A process that stood still may have renewed its lease since it was read.
    const operation = kv.atomic().check(run).check(lease);
    if (next !== undefined) {
      operation.check(plan).set(keys.plan, { ...(plan.value as CronPlan), next });
    }
    const result = await operation
      .set(keys.run, stored)
      .set(keys.lease, storedLease(store))
      .commit();
    if (!result.ok) return undefined;
    return new HeldRun(store, { ...stored, runner }, result.versionstamp, end);
  }

  constructor(store: RunStore, stored: StoredRun, versionstamp: string, end: number) {
    this.stored = stored;
    this.check = { key: store.keys.run, versionstamp };
    this.#store = store;
    this.#end = end;
    this.#timer = setInterval(() => void this.#renew(), store.lease / 3);
  }

  /** Aborted with a {@link CronRunLostError} when the run is lost, or may be. */
  get lost(): AbortSignal {
    return this.#losing.signal;
  }

  /**
   * Renews the lease if a third of it has passed, because the answer to the commit that took the
   * tick came late. Returns false if the run was lost.
   */
  async isHeld(): Promise<boolean> {
    const left = this.#end - performance.now();
    if (left < (2 * this.#store.lease) / 3) await this.#renew();
    return !this.lost.aborted;
  }

  /** Ends the renewal. The lease ends by itself if no other call ends the run. */
  stop(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
  }

  /**
   * Commits the end of the tick, with the operation that the handler has returned.
   *
   * @returns false if a check has failed.
   */
  async end(last: Omit<LastRun, "format">, operation: AtomicOperation): Promise<boolean> {
    const { keys } = this.#store;
    const value: LastRun = { format: recordFormat, ...last };
    const result = await operation
      .check(this.check)
      .delete(keys.run)
      .delete(keys.lease)
      .set(keys.last, value)
      .commit();
    return result.ok;
  }

  /** Commits that another attempt follows. Returns false if the run was lost. */
  async retryAt(time: number, error: string | undefined, attempt: number): Promise<boolean> {
    const { kv, keys } = this.#store;
    const value: StoredRun = {
      ...this.stored,
      attempt,
      retryAt: time,
      ...(error !== undefined && { error }),
    };
    const operation = kv.atomic().check(this.check).set(keys.run, value).delete(keys.lease);
    return (await operation.commit()).ok;
  }

  async #renew(): Promise<void> {
    // A database that does not answer does not get a second request. The lease may have ended.
    if (this.#isRenewing) return this.#loseIfOver();
    this.#isRenewing = true;
    const begin = performance.now();
    try {
      const { kv, keys } = this.#store;
      const operation = kv.atomic().check(this.check).set(keys.lease, storedLease(this.#store));
      const { ok } = await operation.commit();
      if (ok) this.#end = begin + this.#store.lease;
      else this.#lose();
    } catch (error) {
      this.#loseIfOver(error);
    } finally {
      this.#isRenewing = false;
    }
  }

  #loseIfOver(cause?: unknown): void {
    if (performance.now() >= this.#end) this.#lose(cause);
  }

  #lose(cause?: unknown): void {
    if (this.#isOver) return;
    this.stop();
    this.#losing.abort(new CronRunLostError(this.#store.name, cause));
  }
}

function storedRun({ runner }: RunStore, { tick, attempt }: Attempt): StoredRun {
  const begunAt = Date.now();
  return { format: recordFormat, tick, attempt, runner, host: hostname(), pid, begunAt };
}

function storedLease({ lease }: RunStore): StoredLease {
  return { format: recordFormat, milliseconds: lease };
}
