import { sleep } from "#platform";
import type { AtomicWrite } from "../../engine/engine.js";
import { keepAlive } from "../../engine/keep-alive.js";
import { consumerNameOf, isConsumerPositionKey } from "../../engine/log/consumer-keys.js";
import { decodeLogRecord, type LogRecord } from "../../engine/log/log-record.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";
import {
  ConsumerLostError,
  ConsumerTimeoutError,
  LogTruncatedError,
} from "../../errors/log-errors.js";
import { assertVersionstamp } from "../../values/versionstamp.js";
import type { AtomicOperation } from "../atomic-operation.js";
import {
  type ChangesSource,
  commitOfRecord,
  type KvLoggedCommit,
  nextCommit,
} from "../log/read-changes.js";
import { type LogPage, readLogPage } from "../log/read-log-page.js";
import { reportError } from "../queue/report-error.js";
import type { KvConsumeOptions, KvConsumerHandler } from "./consume-types.js";
import type { ConsumerHold, ConsumerStore } from "./consumer-hold.js";
import { takeConsumer } from "./take-consumer.js";

const pageSize = 200;
const defaultTimeToLive = 15_000;
const defaultTimeout = 300_000;
const firstDelay = 100;
const longestDelay = 30_000;

/** What `consume` needs of a handle. */
export interface ConsumeSource extends ChangesSource, ConsumerStore {
  /** True if no other process can have the database open. */
  readonly isAlone: () => boolean;
  /** Returns an operation that is committed by a function. */
  readonly atomicBy: (commit: (write: AtomicWrite) => Promise<string | null>) => AtomicOperation;
}

/** Runs a named consumer of the log until it is stopped. See `consume` of the database. */
export async function consume<T>(
  source: ConsumeSource,
  name: string,
  handler: KvConsumerHandler<T>,
  options: KvConsumeOptions<T>,
): Promise<void> {
  const consumer = new Consumer<T>(source, assertName(name), handler, options);
  await consumer.run();
}

class Consumer<T> {
  readonly #source: ConsumeSource;
  readonly #name: string;
  readonly #handler: KvConsumerHandler<T>;
  readonly #from: string;
  readonly #onError: NonNullable<KvConsumeOptions<T>["onError"]>;
  readonly #retryDelay: (attempt: number) => number;
  readonly #timeout: number;
  readonly #timeToLive: number;
  readonly #signal: AbortSignal | undefined;
  readonly #stopping = new AbortController();
  /** The last commit that was handled, or that has no change of interest. */
  #passed = "";
  /** The failures of the database in a row. */
  #failures = 0;

  constructor(
    source: ConsumeSource,
    name: string,
    handler: KvConsumerHandler<T>,
    options: KvConsumeOptions<T>,
  ) {
    if (typeof handler !== "function")
      throw new InvalidOptionError("handler", "must be a function", "consume");
    const { from = "start", onError, retryDelay = growingDelay } = options;
    if (from !== "start" && from !== "now") assertVersionstamp(from);
    const report = (error: unknown) => reportError(`The consumer ${name} has failed:`, error);
    this.#source = source;
    this.#name = name;
    this.#handler = handler;
    this.#from = from;
    this.#onError = onError ?? report;
    this.#retryDelay = retryDelay;
    this.#timeout = milliseconds("timeout", options.timeout ?? defaultTimeout);
    this.#timeToLive = milliseconds("lease", options.lease ?? defaultTimeToLive);
    this.#signal = options.signal;
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async run(): Promise<void> {
    const stop = () => this.#stopping.abort(this.#signal?.reason);
    if (this.#signal?.aborted) return;
    this.#signal?.addEventListener("abort", stop);
    const handle = { end: stop };
    this.#source.open.add(handle);
    const release = keepAlive();
    try {
      while (!this.#isStopped) await this.#runOnce();
    } finally {
      release();
      this.#source.open.delete(handle);
      this.#signal?.removeEventListener("abort", stop);
    }
  }

  /** Waits for the consumer, and handles commits until it is stopped or lost. */
  async #runOnce(): Promise<void> {
    try {
      const hold = await takeConsumer(this.#source, this.#name, {
        from: this.#from,
        timeToLive: this.#timeToLive,
        signal: this.#stopping.signal,
        isAlone: this.#source.isAlone,
      });
      if (hold === undefined) return;
      this.#passed = hold.position;
      try {
        await this.#follow(hold);
      } finally {
        // If this fails, the lease ends when its time is over.
        await hold.release(this.#passed).catch(() => undefined);
      }
    } catch (error) {
      await this.#recover(error);
    }
  }

  /** Returns if the consumer can continue after an error, and throws it if not. */
  async #recover(error: unknown): Promise<void> {
    // The handle may have been closed during a call.
    if (this.#source.isClosed()) return;
    if (error instanceof ConsumerLostError && error.reason === "taken") return;
    if (!mayRecover(error)) throw error;
    this.#report(error, undefined, ++this.#failures);
    await this.#pause(this.#failures);
  }

  async #follow(hold: ConsumerHold): Promise<void> {
    const waking = new AbortController();
    const wake = () => waking.abort();
    this.#stopping.signal.addEventListener("abort", wake);
    hold.lost.addEventListener("abort", wake);
    try {
      while (!this.#isStopped) {
        const page = await this.#page();
        this.#failures = 0;
        for (const { versionstamp, value } of page.records) {
          hold.assertHeld();
          if (this.#isStopped) return;
          const commit = this.#commitOf(decodeLogRecord(versionstamp, value));
          if (commit !== undefined && !(await this.#handle(hold, commit))) return;
          this.#passed = versionstamp;
        }
        hold.assertHeld();
        if (this.#passed > hold.position && hold.dueIn <= 0) await hold.advance(this.#passed);
        if (!page.isEnd) continue;
        if (await this.#next(hold, waking.signal)) continue;
        // The waiting also ends if the database was moved.
        if (!this.#source.isClosed()) this.#source.assertCurrent();
        return;
      }
    } finally {
      this.#stopping.signal.removeEventListener("abort", wake);
      hold.lost.removeEventListener("abort", wake);
    }
  }

  /**
   * Waits for a further commit, and stores the position if it was not stored for a while: the log
   * may lose the commits that were passed, and the process may be killed. Returns false if the
   * handle closes.
   */
  async #next(hold: ConsumerHold, signal: AbortSignal): Promise<boolean> {
    const waking = new AbortController();
    const wake = () => waking.abort();
    const isStored = hold.position >= this.#passed;
    const timer = isStored ? undefined : setTimeout(wake, Math.max(0, hold.dueIn));
    if (signal.aborted) wake();
    signal.addEventListener("abort", wake);
    try {
      return await nextCommit(this.#source, this.#passed, waking.signal);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
    }
  }

  async #page(): Promise<LogPage> {
    try {
      return await readLogPage(this.#source.engine, this.#passed, pageSize);
    } catch (error) {
      if (!(error instanceof LogTruncatedError)) throw error;
      throw new LogTruncatedError(error.after, error.since, this.#name);
    }
  }

  /** Returns undefined if the consumer made the commit itself, or if no change is of interest. */
  #commitOf(record: LogRecord): KvLoggedCommit<T> | undefined {
    const isOwn = record.changes.some(
      ({ key }) => isConsumerPositionKey(key) && consumerNameOf(key) === this.#name,
    );
    if (isOwn) return undefined;
    const commit = commitOfRecord<T>(record, this.#source);
    return commit.changes.length === 0 ? undefined : commit;
  }

  /**
   * Handles a commit, again until it succeeds. Returns false if the consumer was stopped before.
   */
  async #handle(hold: ConsumerHold, commit: KvLoggedCommit<T>): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#attempt(hold, commit, attempt);
        return true;
      } catch (error) {
        hold.assertHeld();
        if (!this.#isOfStop(error)) this.#report(error, commit, attempt);
      }
      await this.#pause(attempt);
      if (this.#source.isClosed()) return false;
      // No commit can succeed after the database was moved.
      this.#source.assertCurrent();
      // The position may have been moved by an operation whose answer was lost or came too late.
      await hold.refresh();
      if (hold.position >= commit.versionstamp) return true;
      if (this.#isStopped) return false;
    }
  }

  /** True if the attempt has only failed because the consumer was stopped or the handle closed. */
  #isOfStop(error: unknown): boolean {
    if (this.#isStopped && error === this.#stopping.signal.reason) return true;
    return this.#source.isClosed() && isKeywrightError(error);
  }

  async #attempt(hold: ConsumerHold, commit: KvLoggedCommit<T>, attempt: number): Promise<void> {
    const ending = new AbortController();
    const stop = () => ending.abort(this.#stopping.signal.reason);
    const lose = () => ending.abort(hold.lost.reason);
    const running = new Set<Promise<unknown>>();
    let isOver = false;
    const committed = async (write: AtomicWrite): Promise<string | null> => {
      if (isOver) throw new ConsumerLostError(this.#name, "ended");
      this.#source.assertCurrent();
      const commiting = hold.commit(write, commit.versionstamp);
      running.add(commiting);
      return await commiting.finally(() => running.delete(commiting));
    };
    const atomic = () => this.#source.atomicBy(committed);
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const error = new ConsumerTimeoutError(this.#name, this.#timeout);
        ending.abort(error);
        reject(error);
      }, this.#timeout);
    });
    this.#stopping.signal.addEventListener("abort", stop);
    hold.lost.addEventListener("abort", lose);
    try {
      const delivery = { commit, attempt, signal: ending.signal, atomic };
      const handled = (async () => await this.#handler(delivery))();
      await Promise.race([handled, timedOut]);
    } finally {
      isOver = true;
      clearTimeout(timer);
      this.#stopping.signal.removeEventListener("abort", stop);
      hold.lost.removeEventListener("abort", lose);
      // Nobody may be waiting for a commit that has begun.
      await Promise.allSettled(running);
    }
    this.#source.assertCurrent();
    await hold.advance(commit.versionstamp);
  }

  #report(error: unknown, commit: KvLoggedCommit<T> | undefined, attempt: number): void {
    const fail = (cause: unknown) =>
      reportError(`onError of the consumer ${this.#name} has failed:`, cause);
    try {
      // It may be an async function.
      Promise.resolve(this.#onError(error, { consumer: this.#name, commit, attempt })).catch(fail);
    } catch (cause) {
      fail(cause);
    }
  }

  async #pause(attempt: number): Promise<void> {
    const { signal } = this.#stopping;
    await sleep(this.#retryDelay(attempt), undefined, { signal }).catch(() => undefined);
  }
}

/** True for errors after which the position can be read again, to continue where it is. */
function mayRecover(error: unknown): boolean {
  return isKeywrightError(error) && (error.retryable || error.code === "KW_COMMIT_AMBIGUOUS");
}

function growingDelay(attempt: number): number {
  return Math.min(firstDelay * 2 ** (attempt - 1), longestDelay);
}

function assertName(name: string): string {
  if (typeof name === "string" && name !== "" && name.length <= 200) return name;
  const reason = "must be a text of 1 to 200 characters";
  throw new InvalidOptionError("name", reason, "consume");
}

function milliseconds(option: string, value: number): number {
  if (Number.isFinite(value) && value > 0 && value < 2 ** 31) return value;
  throw new InvalidOptionError(option, "must be a number of milliseconds above 0", "consume");
}
