import { KeywrightError } from "@keywright/core";
import { ormErrorMessages } from "./codes.js";

/**
 * Others changed what the transaction had read, in each of its attempts. Nothing was written; the same call may be made
 * again. `cause` is what the last attempt threw, where it threw something.
 */
export class TransactionConflictError extends KeywrightError {
  /** How often the transaction was tried. */
  readonly attempts: number;

  constructor(attempts: number, cause?: unknown) {
    const { KW_TRANSACTION_CONFLICT: message } = ormErrorMessages;
    super("KW_TRANSACTION_CONFLICT", message, { retryable: true, cause });
    this.attempts = attempts;
  }
}

/** A call within a transaction that has been committed or given up already. The call did nothing. */
export class TransactionEndedError extends KeywrightError {
  constructor() {
    super("KW_TRANSACTION_ENDED", ormErrorMessages.KW_TRANSACTION_ENDED);
  }
}
