import type { ModelCatalog } from "../../catalog/model-catalog.js";
import type { TableContext } from "../../context/table-context.js";
import { settleExpiredCounts } from "../../query/read/expired/settle-expired-counts.js";

/** How many rows that expire a program writes per model between two settlements. */
const writesBetween = 100;
/** More than `writesBetween`, so that expired rows become fewer even if nobody counts. */
const maxSettled = 200;

const writesOf = new WeakMap<ModelCatalog, number>();

/**
 * Subtracts rows that have expired from the counters, after the first write of a row that expires
 * and after each hundredth. Without it, the records of expired rows would remain until somebody
 * counts. Within a transaction, this is done after its commit.
 */
export async function settleRegularly(context: TableContext): Promise<void> {
  const { catalog, transaction } = context;
  const writes = writesOf.get(catalog) ?? 0;
  writesOf.set(catalog, writes + 1);
  if (writes % writesBetween !== 0) return;
  const settle = () => settleExpiredCounts(context, maxSettled);
  if (transaction === undefined) await settle();
  else transaction.afterCommit(settle);
}
