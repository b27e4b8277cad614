import type { FoundRow } from "../../context/any-query.js";
import { type TableContext, tablesWithin } from "../../context/table-context.js";
import type { AfterCommit } from "../../transaction/after-commit.js";
import { runTransaction } from "../../transaction/run-transaction.js";
import type { TransactionKv } from "../../transaction/transaction-kv.js";

/**
 * Runs writes of rows atomically: in one commit or, within a transaction of the caller, as a group
 * of which the transaction commits all or none.
 *
 * @param onCommit is called after the commit, before the `after` hooks.
 * @throws the errors of `runTransaction`.
 */
export async function runAtomically<T>(
  context: TableContext,
  body: (within: TableContext) => Promise<T>,
  onCommit?: AfterCommit,
): Promise<T> {
  const outer = context.transaction;
  if (outer === undefined) {
    return await runTransaction(context.kv, async (transaction) => {
      if (onCommit !== undefined) transaction.afterCommit(onCommit);
      return await body(contextWithin(context, transaction));
    });
  }
  let later: AfterCommit[] = [];
  const result = await runTransaction(outer, async (inner) => {
    later = [];
    // The functions of the inner transaction must run after the commit of the caller's transaction.
    inner.afterCommit = (run) => {
      later.push(run);
    };
    return await body(contextWithin(context, inner));
  });
  if (onCommit !== undefined) outer.afterCommit(onCommit);
  for (const run of later) outer.afterCommit(run);
  return result;
}

/** Returns the context of the same table within a transaction. */
function contextWithin(context: TableContext, transaction: TransactionKv): TableContext {
  const within = tablesWithin(context.tables, transaction).get(context.model.name);
  // Only the context of a test can be absent from its own `tables`.
  return within ?? { ...context, kv: transaction, transaction };
}

/**
 * Returns a row with the versionstamp of the commit that wrote it. It keeps its own if the
 * transaction has written nothing.
 */
export function withVersionstamp(found: FoundRow, versionstamp: string | null): FoundRow {
  return versionstamp === null ? found : { ...found, versionstamp };
}
