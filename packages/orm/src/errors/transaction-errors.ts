import { KeywrightError } from "@keywright/core";
import { ormErrorMessages } from "./codes.js";

/**
 * Other commits changed what the transaction had read, in each of its attempts. Nothing was
 * written. The same call may succeed if it is repeated. If the function threw in the last attempt,
 * `cause` is its error.
 */
export class TransactionConflictError extends KeywrightError {
  /** The number of attempts. */
  readonly attempts: number;

  constructor(attempts: number, cause?: unknown) {
    const { KW_TRANSACTION_CONFLICT: message } = ormErrorMessages;
    super("KW_TRANSACTION_CONFLICT", message, { retryable: true, cause });
    this.attempts = attempts;
  }
}

/**
 * A call through a transaction that has already been committed or abandoned. The call did nothing.
 */
export class TransactionEndedError extends KeywrightError {
  constructor() {
    super("KW_TRANSACTION_ENDED", ormErrorMessages.KW_TRANSACTION_ENDED);
  }
}
