import type { Kv, KvKey, KvKeyPart, KvLimits, Turn, Turns } from "@keywright/core";
import {
  type ChangedPlace,
  IsolationUnavailableError,
  TransactionConflictError,
} from "../../errors/transaction-errors.js";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import { assertArgument, oneOf, positiveInteger } from "../../model/shape.js";
import { capabilitiesOf } from "../catalog/capabilities-of.js";
import type { BeginCommit } from "./commit-buffer.js";
import { FailedAttempt, retry } from "./retry.js";
import { TransactionKv } from "./transaction-kv.js";

const defaultAttempts = 100;

const knownIsolation = oneOf(["serializable"], '"serializable"');

export interface RunOptions {
  /** The maximum number of attempts. The default is 100. */
  readonly maxAttempts?: number | undefined;
  /**
   * Aborts the transaction: during a read, a pause or the wait for a turn, or before the commit.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * `"serializable"` refuses to run the function on a database on which a row that others add to a
   * range may not be noticed. By default, each database gives the best isolation that it can.
   */
  readonly isolation?: "serializable" | undefined;
  /** False if the call does not take turns with others that have lost. The default is true. */
  readonly takesTurns?: boolean | undefined;
  /** The models of the database, by which a `TransactionConflictError` names what has changed. */
  readonly models?: (() => Iterable<CompiledModel>) | undefined;
  /**
   * True if the first attempt may assume that the keys of new rows are absent, and does not read
   * them. If one exists, the function runs again, so it must not call code of the program. The
   * default is false.
   */
  readonly optimistic?: boolean | undefined;
  /** Returns the operation of the commit, if it is not one of the database. */
  readonly beginCommit?: BeginCommit | undefined;
}

/**
 * Runs a function whose reads and writes of the database are one transaction, and returns its
 * result after the commit. {@link TransactionKv} describes the isolation. If another commit has
 * changed something that the function read, the function runs again, after three attempts in turn
 * with others that have lost. If it loses during its turn, it pauses. It should therefore do
 * nothing but read and write, or what may be repeated.
 *
 * If the function throws, nothing is written. If all its reads held at one time, its error is
 * thrown. If not, the error may come from a state that never existed, so the function runs again.
 *
 * @throws {IsolationUnavailableError} if the database cannot give the requested isolation.
 */
export async function runTransaction<T>(
  kv: Kv & { readonly limits?: KvLimits },
  body: (kv: TransactionKv) => Promise<T>,
  options: RunOptions = {},
): Promise<T> {
  const {
    maxAttempts = defaultAttempts,
    signal,
    isolation,
    optimistic = false,
    takesTurns = true,
  } = options;
  assertArgument("", "maxAttempts", maxAttempts, positiveInteger, "transaction");
  if (isolation !== undefined)
    assertArgument("", "isolation", isolation, knownIsolation, "transaction");
  const turns = takesTurns && !(kv instanceof TransactionKv) ? capabilitiesOf(kv).turns : undefined;
  let lastTurn: Turn | undefined;
  const runAttempt = async (attempt: number, isFinal: boolean, turn?: Turn) => {
    // If the outer transaction may assume nothing, it has failed before because of an assumption.
    const isFirst = attempt === 1 || (turn !== lastTurn && attempt !== maxAttempts);
    const mayAssume = isFirst && !(kv instanceof TransactionKv && !kv.mayAssume);
    lastTurn = turn;
    const assumes = !mayAssume ? "nothing" : optimistic && attempt === 1 ? "all" : "versions";
    const transaction = new TransactionKv(kv, { attempt, assumes, turn, signal });
    try {
      if (isolation !== undefined && !transaction.seesNoPhantoms)
        throw new IsolationUnavailableError();
      return await runOnce(transaction, body, options, isFinal ? undefined : turns, turn);
    } finally {
      transaction.release();
    }
  };
  return await retry(runAttempt, { maxAttempts, pauses: "growing", turns, signal });
}

async function runOnce<T>(
  transaction: TransactionKv,
  body: (kv: TransactionKv) => Promise<T>,
  { signal, models, beginCommit }: RunOptions,
  turns: Turns | undefined,
  turn: Turn | undefined,
): Promise<T | FailedAttempt> {
  let result: T;
  try {
    result = await body(transaction);
    signal?.throwIfAborted();
    if (transaction.isWriting) await transaction.refuseRunningWrites();
  } catch (cause) {
    transaction.end();
    if (signal?.aborted || (await hasConsistentReads(transaction))) throw cause;
    return conflict(transaction, models, cause);
  }
  if (turns?.isUsed && turns.conflictsWith(transaction.footprint)) {
    transaction.end();
    return conflict(transaction, models, undefined, true);
  }
  const within = turns === undefined ? turn && { turn } : { turn: undefined };
  const { ok, isPostponed } = await transaction.commit(within, beginCommit);
  return ok ? result : conflict(transaction, models, undefined, isPostponed);
}

/**
 * @param cause the error of the function, if it threw one.
 * @param isPostponed true if nothing was committed, because another call has its turn.
 */
function conflict(
  transaction: TransactionKv,
  models: RunOptions["models"],
  cause?: unknown,
  isPostponed = false,
): FailedAttempt {
  const errorAfter = async (attempts: number) => {
    const changed = models && (await changedPlace(transaction, models()));
    return new TransactionConflictError(attempts, cause, changed);
  };
  return new FailedAttempt(errorAfter, () => transaction.footprint, isPostponed);
}

/** Returns undefined if no change is found, or if the database throws. */
async function changedPlace(
  transaction: TransactionKv,
  models: Iterable<CompiledModel>,
): Promise<ChangedPlace | undefined> {
  try {
    const key = await transaction.firstChanged();
    return key && placeOfKey(models, key);
  } catch {
    return undefined;
  }
}

/** If the database throws, the error of the function is more useful than that of the database. */
async function hasConsistentReads(transaction: TransactionKv): Promise<boolean> {
  try {
    return await transaction.hasConsistentReads();
  } catch {
    return true;
  }
}

/** @param key a key, or the first parts of the keys of a range. */
function placeOfKey(models: Iterable<CompiledModel>, key: KvKey): ChangedPlace | undefined {
  // Records of a place have its name after the kind of the record.
  const isRecord = key[0] === systemPrefix;
  const place: KvKeyPart | undefined = isRecord ? key[2] : key[0];
  for (const { name, place: rows, prefix, indexes } of models) {
    if (place === rows || place === prefix)
      return { model: name, index: isRecord ? undefined : "primaryKey" };
    const index = indexes.find((each) => place === each.place || place === each.prefix);
    if (index !== undefined) return { model: name, index: index.name };
  }
  return undefined;
}
