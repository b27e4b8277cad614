import { KeywrightError } from "@keywright/core";
import { OrmError } from "./orm-error.js";

/**
 * Other commits changed what the transaction had read, in each of its attempts. Nothing was
 * written. The same call may succeed if it is repeated. If the function threw in the last attempt,
 * `cause` is its error. `model` and `index` say what had changed in the last attempt, if it is
 * known.
 */
export class TransactionConflictError extends KeywrightError {
  readonly attempts: number;
  /** The model of the first read that no longer held. */
  readonly model: string | undefined;
  /** The index of that read. `"primaryKey"` if it was a read of rows. */
  readonly index: string | undefined;

  constructor(attempts: number, cause?: unknown, changed?: ChangedPlace) {
    const times = attempts === 1 ? "its attempt" : `each of its ${attempts} attempts`;
    const message = `transaction: other commits changed what it had read in ${times}${placeOf(changed, attempts)}, and nothing was written; read less in it, or call it again`;
    super("KW_TRANSACTION_CONFLICT", message, { retryable: true, cause });
    this.attempts = attempts;
    this.model = changed?.model;
    this.index = changed?.index;
  }
}

/** What other commits have changed: rows, or entries of an index, with what is counted of them. */
export interface ChangedPlace {
  readonly model: string;
  /** `"primaryKey"` if it is rows. Undefined if it is other records of the model. */
  readonly index: string | undefined;
}

function placeOf(changed: ChangedPlace | undefined, attempts: number): string {
  if (changed === undefined) return "";
  const { model, index } = changed;
  const what =
    index === undefined
      ? "records"
      : index === "primaryKey"
        ? "rows"
        : `entries of the index ${index}`;
  return `, ${attempts === 1 ? "" : "in the last one "}${what} of ${model}`;
}

/**
 * A call through a transaction that has already been committed or abandoned. The call did nothing.
 */
export class TransactionEndedError extends KeywrightError {
  constructor() {
    const message =
      "transaction: it has already ended, and the call did nothing; await all of its calls within its function";
    super("KW_TRANSACTION_ENDED", message);
  }
}

/**
 * The function of a transaction has returned while one of its writes was still running, because the
 * write was not awaited. Nothing was written.
 */
export class TransactionNotAwaitedError extends KeywrightError {
  constructor() {
    const message =
      "transaction: its function returned before all of its writes had ended, and nothing was written; await each call of tx";
    super("KW_TRANSACTION_NOT_AWAITED", message);
  }
}

/**
 * The function of a transaction has called a write of the database itself, which would not be part
 * of the transaction. Nothing was written. `model` is empty if it has begun another transaction.
 */
export class TransactionBypassedError extends OrmError {
  constructor(model: string) {
    const place = model === "" ? "transaction: " : "";
    const remedy =
      model === ""
        ? "use the tx of the running transaction"
        : "call it on the tx of the transaction, or after the transaction";
    const text = `${place}it was called on the database within a transaction, and would not be part of it; ${remedy}, or pass { allowOutsideWrites: true } to the transaction`;
    super("KW_TRANSACTION_BYPASSED", model, text);
  }
}

/**
 * A transaction was asked for `isolation: "serializable"`, and the database cannot check the ranges
 * that it reads; or a snapshot was asked for, and the database cannot read one state in several
 * calls. The function was not called.
 */
export class IsolationUnavailableError extends KeywrightError {
  constructor(call: "transaction" | "snapshot" = "transaction") {
    const text =
      call === "transaction"
        ? 'this database cannot check ranges of keys, as isolation: "serializable" needs; leave out the option, or use a database that can'
        : "this database cannot read one state in several calls; read on the database itself if the calls may see different states, or use a database that can";
    super("KW_ISOLATION_UNAVAILABLE", `${call}: ${text}`);
  }
}

/** A read of the log on a database that cannot have one, as Deno KV. */
export class LogUnavailableError extends OrmError {
  constructor(model: string) {
    const text = "this database cannot keep a log of its commits; use one that openKv has opened";
    super("KW_LOG_UNAVAILABLE", model, text);
  }
}

/** A state of the past that cannot be read, because the models have changed too much since. */
export class PastUnreadableError extends OrmError {
  constructor(model: string) {
    const text = "a migration has replaced its rows or indexes since; choose a later moment";
    super("KW_PAST_UNREADABLE", model, text);
  }
}

/**
 * A call that does not only read, on the view of a snapshot. Nothing was written. `model` is empty
 * if it was `transaction` or `snapshot`.
 */
export class SnapshotReadOnlyError extends OrmError {
  constructor(model: string, call = "") {
    const place = call === "" ? "" : `${call}: `;
    const text = `${place}the view of a snapshot has only methods that read once; call it on the database`;
    super("KW_SNAPSHOT_READ_ONLY", model, text);
  }
}

/**
 * A read of a snapshot that has ended: its function has returned or thrown, or the database no
 * longer has the state. The read returned nothing. The snapshot can be taken again if `retryable`
 * is true.
 */
export class SnapshotEndedError extends KeywrightError {
  /** Why the database no longer has the state, as a clause. Undefined if the function has ended. */
  readonly reason: string | undefined;

  constructor({ reason, cause }: { readonly reason?: string; readonly cause?: unknown } = {}) {
    const text =
      reason === undefined
        ? "its function has ended, and the call read nothing; await all calls of the view within the function"
        : `the state that it reads is no longer available, because ${reason}; call it again, and read in less time or in several snapshots`;
    super("KW_SNAPSHOT_ENDED", `snapshot: ${text}`, { cause, retryable: reason !== undefined });
    this.reason = reason;
  }
}
