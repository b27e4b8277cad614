import type { FoundRow } from "../../state/context/any-query.js";
import { type TableContext, tablesWithin } from "../../state/context/table-context.js";
import type { AfterCommit } from "../../state/transaction/after-commit.js";
import { runTransaction } from "../../state/transaction/run-transaction.js";
import type { TransactionKv } from "../../state/transaction/transaction-kv.js";

interface AtomicOptions {
  /** Is called after the commit, before the `after` hooks. */
  readonly onCommit?: AfterCommit;
  /** True if new keys may be assumed absent in the first attempt. The default is false. */
  readonly optimistic?: boolean;
}

/**
 * Runs writes of rows atomically: in one commit or, within a transaction of the caller, as a group
 * of which the transaction commits all or none.
 *
 * @throws the errors of `runTransaction`.
 */
export async function runAtomically<T>(
  context: TableContext,
  body: (within: TableContext) => Promise<T>,
  { onCommit, optimistic = false }: AtomicOptions = {},
): Promise<T> {
  const outer = context.transaction;
  if (outer === undefined) {
    const write = async (transaction: TransactionKv): Promise<T> => {
      if (onCommit !== undefined) transaction.afterCommit(onCommit);
      return await body(contextWithin(context, transaction));
    };
    return await runTransaction(context.kv, write, { optimistic });
  }
  let later: AfterCommit[] = [];
  const writeWithin = async (inner: TransactionKv): Promise<T> => {
    later = [];
    // The functions of the inner transaction must run after the commit of the caller's transaction.
    inner.afterCommit = (run) => void later.push(run);
    return await body(contextWithin(context, inner));
  };
  const result = await runTransaction(outer, writeWithin, { optimistic });
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
  optimistic = false,
): Promise<FoundRow[]> {
  let rows: FoundRow[] = [];
  const write = async (within: TableContext): Promise<void> => {
    rows = [];
    await body(within, rows);
  };
  const onCommit: AfterCommit = (versionstamp) => {
    // Without a versionstamp, the transaction has written nothing.
    if (versionstamp !== null) rows = rows.map((row) => ({ ...row, versionstamp }));
  };
  await runAtomically(context, write, { onCommit, optimistic });
  return rows;
}
