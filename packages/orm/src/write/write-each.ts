import type { Kv, KvLimits } from "@keywright/core";
import type { RowId } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { IndexChangedError, StaleSchemaError } from "../errors/schema-errors.js";
import { TransactionConflictError, TransactionEndedError } from "../errors/transaction-errors.js";
import type { FoundRow } from "../query/any-query.js";
import type { TableContext } from "../query/table-context.js";
import { commitTogether } from "./commit-together.js";
import type { RowResult } from "./row-result.js";

/** Writes of many rows, each of which may fail without the others. */
export interface EachWrite<T> {
  readonly items: readonly T[];
  /** Writes the row of an item; undefined where there is nothing to write any more. */
  readonly write: (context: TableContext, item: T) => Promise<FoundRow | undefined>;
  /** The primary key of an item's row, where it is known before it is written. */
  readonly idOf?: (item: T) => RowId;
  /** Write one row after the other: each may take several commits. */
  readonly isAlone?: boolean;
}

type Outcome = PromiseSettledResult<FoundRow | undefined>;

/** So many rows are written at once. More would not be faster, and would be in memory together. */
const rowsAtOnce = 100;

/**
 * Writes rows as if each were written by a call of its own, and says what has become of every row, in the order of the
 * items. A hundred are written at once, in commits that they share: an embedded database puts together what is on
 * its way at the same time, on others it is done here.
 *
 * @throws what is the fault of the call and not of a row, such as an option that is not valid. Rows before it stay written.
 */
export async function writeEach<T>(
  context: TableContext,
  writes: EachWrite<T>,
): Promise<RowResult[]> {
  const { items, idOf, isAlone = false } = writes;
  const isOneByOne = isAlone || context.transaction !== undefined;
  const atOnce = isOneByOne ? 1 : rowsAtOnce;
  const writeAll = isOneByOne || groupsCommits(context.kv) ? writeAtOnce : writeTogether;
  const results: RowResult[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    const chunk = items.slice(from, from + atOnce);
    for (const [i, outcome] of (await writeAll(context, writes, chunk)).entries()) {
      if (outcome.status === "fulfilled") {
        if (outcome.value !== undefined) results.push({ ok: true, row: outcome.value });
        continue;
      }
      const error: unknown = outcome.reason;
      if (isOfCall(context, error)) throw error;
      results.push({ ok: false, ...(idOf && { id: idOf(chunk[i] as T) }), error });
    }
  }
  return results;
}

async function writeAtOnce<T>(
  context: TableContext,
  { write }: EachWrite<T>,
  items: readonly T[],
): Promise<Outcome[]> {
  return await Promise.allSettled(items.map((item) => write(context, item)));
}

async function writeTogether<T>(
  context: TableContext,
  { write }: EachWrite<T>,
  items: readonly T[],
): Promise<Outcome[]> {
  const writes = items.map((item) => (kv: Kv) => write({ ...context, kv }, item));
  return await commitTogether(context, writes);
}

/** An embedded database, which says what its limits are, writes the commits that are on their way at one time as one. */
function groupsCommits(kv: Kv & { readonly limits?: KvLimits }): boolean {
  return kv.limits !== undefined;
}

/** Every other row would fail in the same way, or the transaction is over: it has to be run again. */
function isOfCall({ transaction }: TableContext, error: unknown): boolean {
  return (
    error instanceof InvalidArgumentError ||
    error instanceof StaleSchemaError ||
    error instanceof IndexChangedError ||
    (transaction !== undefined &&
      (error instanceof TransactionConflictError || error instanceof TransactionEndedError))
  );
}
