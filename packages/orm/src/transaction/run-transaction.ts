import type { Kv, KvLimits } from "@keywright/core";
import { TransactionConflictError } from "../errors/transaction-errors.js";
import { pauseBeforeAttempt } from "./pause.js";
import { TransactionKv } from "./transaction-kv.js";

const defaultAttempts = 100;

/**
 * The longest pause grows by so many milliseconds with each attempt. Where hundreds of transactions want one row, all of them
 * come through only if those wait longer that have tried more often.
 */
const pausePerAttempt = 10;

/** How a transaction is run. */
export interface TransactionOptions {
  /** How often it is tried at the most; 100 times without it. */
  readonly maxAttempts?: number | undefined;
  /** Gives the transaction up: before the next attempt, in a pause, or before the commit. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of one attempt; `cause` is what its function threw. */
type AttemptResult<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly cause?: unknown };

/**
 * Runs a function whose reads and writes of the database are one transaction ({@link TransactionKv} says how isolated), and
 * returns what it returns, after the commit. Where others have changed what it has read, the function is run again, with a
 * pause in between that grows. So it does nothing but read and write, or what may be done several times.
 *
 * Nothing is written where the function throws. The error is thrown on, unless what the function has read did not fit
 * together: then the error came of a state that never was, and it is run again.
 *
 * @throws {TransactionConflictError} after `maxAttempts`.
 * @throws {LimitExceededError} for more checks or mutations than the database takes at once.
 * @throws {RangeError} for a `maxAttempts` that is no positive integer.
 * @throws what `signal` was aborted with.
 */
export async function runTransaction<T>(
  kv: Kv & { readonly limits?: KvLimits },
  body: (kv: TransactionKv) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const { maxAttempts = defaultAttempts, signal } = options;
  if (!(Number.isInteger(maxAttempts) && maxAttempts > 0)) {
    throw new RangeError(`maxAttempts is a positive integer, not ${maxAttempts}.`);
  }
  for (let attempt = 1; ; attempt++) {
    await pauseBeforeAttempt(attempt, signal, pausePerAttempt * attempt);
    const transaction = new TransactionKv(kv, { attempt, optimistic: attempt === 1 });
    const outcome = await runOnce(transaction, body, signal);
    if (outcome.ok) return outcome.result;
    if (attempt === maxAttempts) throw new TransactionConflictError(attempt, outcome.cause);
  }
}

async function runOnce<T>(
  transaction: TransactionKv,
  body: (kv: TransactionKv) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<AttemptResult<T>> {
  let result: T;
  try {
    result = await body(transaction);
    signal?.throwIfAborted();
  } catch (cause) {
    transaction.end();
    if (signal?.aborted || (await hasConsistentReads(transaction))) throw cause;
    return { ok: false, cause };
  }
  const { ok } = await transaction.commit();
  return ok ? { ok, result } : { ok };
}

/** Where the database cannot say so, what the function threw says more than what the database throws. */
async function hasConsistentReads(transaction: TransactionKv): Promise<boolean> {
  try {
    return await transaction.hasConsistentReads();
  } catch {
    return true;
  }
}
