import { compareKeys, type KvKey, type KvKeyPart } from "@keywright/core";
import type { ChosenPlan } from "../plan/choose-plan.js";
import { keyFields } from "../plan/fields/key-fields.js";
import { findSegment, type Plan, type QueryPlan, type Segment } from "../plan/ranges/query-plan.js";
import type { ReadRow } from "./rows/row-reader.js";

/** No key part of any type sorts before the smallest one, and none after the largest one. */
const smallest: KvKeyPart = new Uint8Array();
const largest: KvKeyPart = true;

/**
 * Returns the way to continue a plan after all rows that have the same value of a field as a row.
 *
 * @param field the first field of the query's order.
 * @param row a row of the plan.
 */
export function planAfter(plan: Plan, field: string, row: ReadRow): ChosenPlan {
  if (!("merged" in plan)) return queryPlanAfter(plan, field, row);
  const merged = plan.merged.filter((each) => {
    return each.segments.some((segment) => continues(each, segment, field, row));
  });
  // The rows of a merged plan are sorted by this field first.
  const part = row.entryKey[1]!;
  return { plan: { ...plan, merged }, after: lastKeyWith(plan, row.entryKey, 1, part) };
}

function queryPlanAfter(plan: QueryPlan, field: string, row: ReadRow): ChosenPlan {
  const { reverse } = plan;
  const position = positionOf(plan, field);
  const part = partOf(plan, field, row);
  // A switch to a rebuilt index may have changed the place since the row was read.
  const key = [plan.index?.place ?? plan.model.place, ...row.entryKey.slice(1)];
  const found = findSegment(plan, key);
  const isLeft = (_: Segment, i: number) => (reverse ? i <= found : i >= found);
  const segments = plan.segments
    .filter(isLeft)
    .filter((segment) => continues(plan, segment, field, row));
  const isWithin = plan.segments[found]?.equals.length === position;
  const after = isWithin ? lastKeyWith(plan, key, 1 + position, part) : undefined;
  return { plan: { ...plan, segments }, after };
}

/** True if rows of a segment may come after those with the value of a row. */
function continues(plan: QueryPlan, { equals }: Segment, field: string, row: ReadRow): boolean {
  const fixed = equals[positionOf(plan, field)];
  if (fixed === undefined) return true;
  const difference = compareKeys([fixed], [partOf(plan, field, row)], plan.model.keyOrder);
  return plan.reverse ? difference < 0 : difference > 0;
}

/** Returns the last key, in the reading direction, that has a part at a position. */
function lastKeyWith(
  { reverse }: Pick<Plan, "reverse">,
  key: KvKey,
  position: number,
  part: KvKeyPart,
): KvKey {
  const rest = key.length - position - 1;
  const fill = new Array<KvKeyPart>(rest).fill(reverse ? smallest : largest);
  return [...key.slice(0, position), part, ...fill];
}

function positionOf({ model, index }: QueryPlan, field: string): number {
  return keyFields(model, index).findIndex(({ name }) => name === field);
}

/** Returns the key part of a row's value. */
function partOf(plan: QueryPlan, field: string, { row }: ReadRow): KvKeyPart {
  const { partOf: toPart } = keyFields(plan.model, plan.index)[positionOf(plan, field)]!;
  return toPart(row[field]);
}
