import type { Kv } from "@keywright/core";
import { TransactionBypassedError } from "../../errors/transaction-errors.js";
import { type RunOptions, runTransaction } from "./run-transaction.js";
import type { TransactionKv } from "./transaction-kv.js";
import { isWithinTransaction, TransactionScope } from "./transaction-scope.js";

export interface TransactionOptions
  extends Pick<RunOptions, "maxAttempts" | "signal" | "isolation"> {
  /**
   * Permits the function to write through the database, or to begin another transaction of it.
   * Such writes are commits of their own, and happen again in each attempt. If they change what
   * the transaction has read, its commit fails each time. The default is false.
   */
  readonly allowOutsideWrites?: boolean | undefined;
}

/**
 * Runs a transaction of a program, as `runTransaction` does. Writes through the database that its
 * function calls are refused, because they would not be part of the transaction.
 *
 * @throws {TransactionBypassedError} if it is called by the function of another transaction.
 */
export async function runScopedTransaction<T>(
  kv: Kv,
  body: (kv: TransactionKv) => Promise<T>,
  options: TransactionOptions & Pick<RunOptions, "models" | "beginCommit"> = {},
): Promise<T> {
  if (isWithinTransaction(kv)) throw new TransactionBypassedError("");
  if (options.allowOutsideWrites) {
    // A transaction that the function begins would wait for the turn of this one.
    return await runTransaction(kv, body, { ...options, takesTurns: false });
  }
  const scope = new TransactionScope(kv);
  const scopedBody = (transaction: TransactionKv): Promise<T> => {
    // The hooks after the commit may write.
    transaction.afterCommit(() => scope.end());
    return scope.run(() => body(transaction));
  };
  try {
    return await runTransaction(kv, scopedBody, options);
  } finally {
    scope.end();
  }
}
