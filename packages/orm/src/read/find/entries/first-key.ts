import { Buffer } from "node:buffer";
import { encodeKey, type KvKey } from "@keywright/core";
import { IndexKeyError } from "../../../errors/row-errors.js";
import { hasIndexKey, indexKeys } from "../../../model/keys/index-entries.js";
import { isSameKey } from "../../../model/keys/key-parts.js";
import type { FoundRow } from "../../../state/context/any-query.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { findSegment, mayRepeat, type QueryPlan } from "../../plan/ranges/query-plan.js";

/**
 * True if a row has the key of an index entry, and no other of its keys comes earlier in the plan.
 * A row with several keys is thus returned once. The row is compared as it was read, so an outdated
 * entry does not count.
 */
export function isFirstKey(
  { model }: ReadView,
  plan: QueryPlan,
  { row, primaryKey }: FoundRow,
  key: KvKey,
): boolean {
  const { index, reverse } = plan;
  if (index === undefined) return true;
  if (!mayRepeat(plan)) return hasIndexKey(model, index, row, primaryKey, key);
  let rowKeys: readonly KvKey[];
  try {
    rowKeys = indexKeys(model, index, row, primaryKey);
  } catch (error) {
    // A row written by hand, with a value that the index cannot hold, has no key in it.
    if (error instanceof IndexKeyError) return false;
    throw error;
  }
  if (!rowKeys.some((other) => isSameKey(other, key))) return false;
  if (rowKeys.length === 1) return true;
  const bytes = encodeKey(key, model.keyOrder);
  return !rowKeys.some((other) => {
    const difference = Buffer.compare(encodeKey(other, model.keyOrder), bytes);
    const isBefore = reverse ? difference > 0 : difference < 0;
    return isBefore && findSegment(plan, other) >= 0;
  });
}
