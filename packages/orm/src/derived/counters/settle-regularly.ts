import type { ModelCatalog } from "../../catalog/model-catalog.js";
import type { ModelStore } from "../../context/model-store.js";
import { settleExpiredCounts } from "./settle-expired-counts.js";

/** How many rows that expire a program writes per model between two settlements. */
const writesBetween = 100;
/** More than `writesBetween`, so that expired rows become fewer even if nobody counts. */
const maxSettled = 200;

const writesOf = new WeakMap<ModelCatalog, number>();

/**
 * Subtracts rows that have expired from the counters, after the first write of a row that expires
 * and after each hundredth. Without it, the records of expired rows would remain until somebody
 * counts.
 */
export async function settleRegularly(store: ModelStore): Promise<void> {
  const { catalog } = store;
  const writes = writesOf.get(catalog) ?? 0;
  writesOf.set(catalog, writes + 1);
  if (writes % writesBetween !== 0) return;
  await settleExpiredCounts(store, maxSettled);
}
