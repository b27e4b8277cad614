import type { FoundRow } from "../../state/context/any-query.js";
import { type TableContext, tablesWithin } from "../../state/context/table-context.js";
import type { AfterCommit } from "../../state/transaction/after-commit.js";
import { runTransaction } from "../../state/transaction/run-transaction.js";
import type { TransactionKv } from "../../state/transaction/transaction-kv.js";

/** The result of writes, and the versionstamp of their commit. */
interface Committed<T> {
  readonly result: T;
  /** Null if nothing was written, or if a transaction of the caller will commit it. */
  readonly versionstamp: string | null;
}

/**
 * Runs writes of rows atomically: in one commit or, within a transaction of the caller, as a group
 * of which the transaction commits all or none.
 *
 * @param optimistic true if new keys may be assumed absent in the first attempt.
 * @throws the errors of `runTransaction`.
 */
export async function runAtomically<T>(
  context: TableContext,
  body: (within: TableContext) => Promise<T>,
  optimistic = false,
): Promise<Committed<T>> {
  const outer = context.transaction;
  let versionstamp: string | null = null;
  let later: AfterCommit[] = [];
  const write = async (transaction: TransactionKv): Promise<T> => {
    if (outer === undefined) {
      transaction.afterCommit((committed) => {
        versionstamp = committed;
      });
    } else {
      later = [];
      // The functions of the inner transaction must run after the commit of the caller's
      // transaction.
      transaction.afterCommit = (run) => void later.push(run);
    }
    return await body(contextWithin(context, transaction));
  };
  const result = await runTransaction(outer ?? context.kv, write, { optimistic });
  for (const run of later) outer?.afterCommit(run);
  return { result, versionstamp };
}

function contextWithin(context: TableContext, transaction: TransactionKv): TableContext {
  const within = tablesWithin(context.tables, transaction).get(context.model.name);
  // Only the context of a test can be absent from its own `tables`.
  return within ?? { ...context, kv: transaction, transaction };
}

/**
 * Writes a row as {@link runAtomically}, and returns it with the versionstamp of the commit. Within
 * a transaction of the caller it keeps a provisional one.
 */
export async function writeRowAtomically<T extends { readonly versionstamp: string }>(
  context: TableContext,
  body: (within: TableContext) => Promise<T>,
): Promise<T> {
  const { result, versionstamp } = await runAtomically(context, body);
  return versionstamp === null ? result : { ...result, versionstamp };
}

/** Writes rows as {@link writeRowAtomically}. */
export async function writeAtomically(
  context: TableContext,
  body: (within: TableContext) => Promise<readonly FoundRow[]>,
  optimistic = false,
): Promise<readonly FoundRow[]> {
  const { result, versionstamp } = await runAtomically(context, body, optimistic);
  return versionstamp === null ? result : result.map((row) => ({ ...row, versionstamp }));
}
