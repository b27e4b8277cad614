import { KeywrightError } from "./keywright-error.js";
import { sentence } from "./message-parts.js";

const lossReasons = {
  taken: "another process has taken it over",
  removed: "it was removed",
  advanced: "its position is already past this commit, which was handled before",
  ended: "the handler has already ended, failed or taken too long",
} as const;

/** A read of the log of a database that keeps none. */
export class LogOffError extends KeywrightError {
  constructor() {
    const remedy =
      'Open it once with openKv(where, { log: { keep: "7 days" } }), or run `keywright log on`.';
    super("KW_LOG_OFF", `The database keeps no log of its commits. ${remedy}`);
  }
}

/** The log no longer has all commits after a versionstamp, because the oldest were removed. */
export class LogTruncatedError extends KeywrightError {
  /** The versionstamp or the time after which commits were asked for. */
  readonly after: string;
  /** The log has every commit after this versionstamp. */
  readonly since: string;
  /** The name of the consumer that has come only so far. Undefined for other reads of the log. */
  readonly consumer: string | undefined;

  constructor(after: string, since: string, consumer?: string) {
    const wasRemoved = after < since || !/^[0-9a-f]{20}$/.test(after);
    const problem = wasRemoved
      ? `The log no longer has all commits after ${after}. It has those after ${since}.`
      : `The database has made no commit ${after}.`;
    const begin =
      consumer === undefined
        ? "Begin again from a snapshot"
        : `The consumer ${consumer} cannot continue. Remove it with removeConsumer, and begin again from a snapshot with the option from of consume`;
    const remedy = wasRemoved ? "and keep the log for longer" : "as after each restore";
    super("KW_LOG_TRUNCATED", `${problem} ${begin}, ${remedy}.`);
    this.after = after;
    this.since = since;
    this.consumer = consumer;
  }
}

/** A write of a consumer of the log that may no longer be made. Nothing was written. */
export class ConsumerLostError extends KeywrightError {
  /** The name of the consumer. */
  readonly consumer: string;
  /**
   * `"taken"` if another process has it, `"removed"` if it no longer exists, `"advanced"` if the
   * commit was handled before, `"ended"` if the handler is over.
   */
  readonly reason: keyof typeof lossReasons;

  constructor(consumer: string, reason: keyof typeof lossReasons) {
    const message = `The consumer ${consumer} cannot continue with this commit: ${lossReasons[reason]}. Nothing was written. End the handler.`;
    super("KW_CONSUMER_LOST", message);
    this.consumer = consumer;
    this.reason = reason;
  }
}

/** A handler of a consumer of the log that has taken too long. It is called again. */
export class ConsumerTimeoutError extends KeywrightError {
  /** The name of the consumer. */
  readonly consumer: string;
  /** The time that the handler had, in milliseconds. */
  readonly timeout: number;

  constructor(consumer: string, timeout: number) {
    const message = `The handler of the consumer ${consumer} has not ended after ${timeout} ms. Raise the option timeout, or end the handler when its signal is aborted.`;
    super("KW_CONSUMER_TIMEOUT", message, { retryable: true });
    this.consumer = consumer;
    this.timeout = timeout;
  }
}

/** A view of a moment after which more was changed than may be read. */
export class PastLimitError extends KeywrightError {
  /** The maximum number of changes. */
  readonly maxChanges: number;

  constructor(maxChanges: number) {
    const message = `More than ${maxChanges} entries have been changed since the moment. Raise maxChanges, or choose a later moment.`;
    super("KW_PAST_LIMIT", message);
    this.maxChanges = maxChanges;
  }
}

/** A read of a key whose earlier value the log does not tell. */
export class PastUnknownError extends KeywrightError {
  readonly key: readonly (Uint8Array | string | number | bigint | boolean)[];

  constructor(key: readonly (Uint8Array | string | number | bigint | boolean)[]) {
    const message =
      "The log does not tell the earlier value of a key: this engine logs min and max without it.";
    super("KW_PAST_UNKNOWN", message);
    this.key = key;
  }
}

/** A database that cannot keep a log, or not by this program. */
export class LogUnsupportedError extends KeywrightError {
  /** Why it cannot, as a clause. */
  readonly reason: string;

  constructor(reason: string) {
    super(
      "KW_LOG_UNSUPPORTED",
      `The database cannot keep a log of its commits: ${sentence(reason)}`,
    );
    this.reason = reason;
  }
}
