import type { FoundRow } from "../../context/any-query.js";
import { type TableContext, tablesWithin } from "../../context/table-context.js";
import type { AfterCommit } from "../../transaction/after-commit.js";
import { runTransaction } from "../../transaction/run-transaction.js";
import type { TransactionKv } from "../../transaction/transaction-kv.js";

/**
 * Runs writes of rows that are made together or not at all: in one commit, or within the caller's transaction, which then
 * has all of them to commit or none.
 *
 * @param onCommit called when the writes are done, before the hooks behind them.
 * @throws what `runTransaction` throws.
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
    // What waits for the commit waits for that of the caller's transaction.
    inner.afterCommit = (run) => {
      later.push(run);
    };
    return await body(contextWithin(context, inner));
  });
  if (onCommit !== undefined) outer.afterCommit(onCommit);
  for (const run of later) outer.afterCommit(run);
  return result;
}

/** The same table, as a transaction sees it. */
function contextWithin(context: TableContext, transaction: TransactionKv): TableContext {
  const within = tablesWithin(context.tables, transaction).get(context.model.name);
  // A context that is not among its own tables is one that a test made.
  return within ?? { ...context, kv: transaction, transaction };
}

/** Rows that one commit wrote, with its versionstamp; those of a transaction that wrote nothing keep theirs. */
export function stamped(found: FoundRow, versionstamp: string | null): FoundRow {
  return versionstamp === null ? found : { ...found, versionstamp };
}
