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
    inner.afterCommit = (run) => void later.push(run);
    return await body(contextWithin(context, inner));
  });
  if (onCommit !== undefined) outer.afterCommit(onCommit);
  for (const run of later) outer.afterCommit(run);
  return result;
}

function contextWithin(context: TableContext, transaction: TransactionKv): TableContext {
  const within = tablesWithin(context.tables, transaction).get(context.model.name);
  // Only the context of a test can be absent from its own `tables`.
  return within ?? { ...context, kv: transaction, transaction };
}

/**
 * Writes rows as {@link runAtomically}, and returns them with the versionstamp of the commit.
 * Within a transaction of the caller they keep a provisional one.
 */
export async function writeAtomically(
  context: TableContext,
  body: (within: TableContext, written: FoundRow[]) => Promise<void>,
): Promise<FoundRow[]> {
  let rows: FoundRow[] = [];
  await runAtomically(
    context,
    async (within) => {
      rows = [];
      await body(within, rows);
    },
    (versionstamp) => {
      // Without a versionstamp, the transaction has written nothing.
      if (versionstamp !== null) rows = rows.map((row) => ({ ...row, versionstamp }));
    },
  );
  return rows;
}
