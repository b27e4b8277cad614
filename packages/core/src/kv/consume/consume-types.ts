import type { KvKey } from "../../keys/key.js";
import type { AtomicOperation } from "../atomic-operation.js";
import type { KvLoggedCommit } from "../log/read-changes.js";

/** What the handler of a consumer gets: one commit of the log. */
export interface KvDelivery<T = unknown> {
  readonly commit: KvLoggedCommit<T>;
  /** The number of the attempt to handle the commit by this process, from 1. */
  readonly attempt: number;
  /**
   * Aborted if the handler takes too long, if another process has taken the consumer over, and when
   * the consumer is stopped. The handler should then end.
   */
  readonly signal: AbortSignal;
  /**
   * Returns an operation whose commit also says that the commit of the log was handled. Its writes
   * therefore happen exactly once. `commit()` rejects with a `ConsumerLostError`, and nothing is
   * written, if another process has the consumer by now, or if the commit was handled before. It
   * returns `{ ok: false }` if a check of the operation itself failed.
   */
  atomic(): AtomicOperation;
}

/** Handles one commit of the log. If it throws or rejects, it is called again. */
export type KvConsumerHandler<T = unknown> = (delivery: KvDelivery<T>) => Promise<void> | void;

/** What `onError` of a consumer gets. */
export interface KvConsumerFailure<T = unknown> {
  readonly consumer: string;
  /** The commit that was not handled. Undefined if the database did not answer. */
  readonly commit: KvLoggedCommit<T> | undefined;
  /** The number of failures in a row, from 1. */
  readonly attempt: number;
}

/** Options of `kv.consume`. */
export interface KvConsumeOptions<T = unknown> {
  /**
   * Where a consumer begins that does not exist yet: after the commit of a versionstamp, with the
   * oldest commit of the log (`"start"`, the default), or with the next commit (`"now"`).
   */
  readonly from?: "start" | "now" | (string & {}) | undefined;
  /** Only changes of keys with this prefix. */
  readonly prefix?: KvKey | undefined;
  /** Stops the consumer, after the handler that is running. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called if the handler fails, and if the database does not answer. Writes to the console by
   * default. If it throws or rejects, that is written to the console.
   */
  readonly onError?: ((error: unknown, failure: KvConsumerFailure<T>) => unknown) | undefined;
  /**
   * How many milliseconds to wait after a failure, by the number of failures in a row, from 1. By
   * default 100 ms, twice as long after each further failure, and at most 30 seconds.
   */
  readonly retryDelay?: ((attempt: number) => number) | undefined;
  /**
   * How many milliseconds the handler may take for one commit. Then it has failed. The default is
   * five minutes.
   */
  readonly timeout?: number | undefined;
  /**
   * After how many milliseconds without a sign of life another process takes the consumer over. It
   * gives one three times as often. The default is 15 seconds.
   */
  readonly lease?: number | undefined;
}
