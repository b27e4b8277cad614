import type { KvKey } from "@keywright/core";
import { IndexKeyError } from "../../../errors/row-errors.js";
import { indexKeys } from "../../../model/keys/index-entries.js";
import { rowKey } from "../../../model/keys/primary-key.js";
import type { FoundRow } from "../../../state/context/any-query.js";
import { findSegment, type Plan, plansIn, type QueryPlan } from "../../plan/ranges/query-plan.js";

/** True if one of the keys of a row is in the ranges of a plan. */
export function isRowInPlan(plan: Plan, found: Pick<FoundRow, "row" | "primaryKey">): boolean {
  return plansIn(plan).some((each) =>
    keysOf(each, found).some((key) => findSegment(each, key) >= 0),
  );
}

/** Returns the keys of a row in the index that a plan reads. */
function keysOf(
  { model, index }: QueryPlan,
  { row, primaryKey }: Pick<FoundRow, "row" | "primaryKey">,
): readonly KvKey[] {
  if (index === undefined) return [rowKey(model, primaryKey)];
  try {
    return indexKeys(model, index, row, primaryKey);
  } catch (error) {
    // A row written by hand may have a value that the index cannot hold. It then has no key there.
    if (error instanceof IndexKeyError) return [];
    throw error;
  }
}
