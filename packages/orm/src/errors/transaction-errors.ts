import { KeywrightError } from "@keywright/core";

/**
 * Other commits changed what the transaction had read, in each of its attempts. Nothing was
 * written. The same call may succeed if it is repeated. If the function threw in the last attempt,
 * `cause` is its error.
 */
export class TransactionConflictError extends KeywrightError {
  readonly attempts: number;

  constructor(attempts: number, cause?: unknown) {
    const times = attempts === 1 ? "its attempt" : `each of its ${attempts} attempts`;
    const message = `transaction: other commits changed what it had read in ${times}, and nothing was written; read less in it, or call it again`;
    super("KW_TRANSACTION_CONFLICT", message, { retryable: true, cause });
    this.attempts = attempts;
  }
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
