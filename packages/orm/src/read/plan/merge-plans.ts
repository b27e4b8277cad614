import type { KvKey, KvKeyPart } from "@keywright/core";
import type { CompiledModel, CompiledPart } from "../../model/compiled-model.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { MergedPlan, QueryPlan } from "./ranges/query-plan.js";
import { maxSegments } from "./ranges/segments.js";

/**
 * Returns the ways to merge the rows of the alternatives of a query, best first: one plan for each
 * alternative, so that all plans have their rows in the same order.
 *
 * @param alternatives the plans that serve each alternative, best first.
 * @param order the fields of the query's order that do not have one value in all alternatives.
 */
export function mergePlans(
  model: CompiledModel,
  alternatives: readonly (readonly QueryPlan[])[],
  order: readonly string[],
): MergedPlan[] {
  const [first = [], ...others] = alternatives;
  return first.flatMap((plan) => {
    const key = sortKeyOf(plan);
    if (key === undefined || !startsWith(key, order)) return [];
    const chosen = [plan];
    for (const plans of others) {
      const alike = plans.find((other) => {
        const otherKey = sortKeyOf(other);
        return otherKey && isSameKey(key, otherKey) && other.reverse === plan.reverse;
      });
      if (alike === undefined) return [];
      chosen.push(alike);
    }
    const merged = chosen.flatMap((each) =>
      each.segments.map((segment) => ({ ...each, segments: [segment] })),
    );
    return merged.length > maxSegments ? [] : [{ model, merged, reverse: plan.reverse }];
  });
}

/**
 * Returns the parts by which the rows of each segment of a plan are sorted, before the primary key.
 * Undefined if there are no such parts: if segments differ in this, and if a row may have several
 * values of a part.
 */
function sortKeyOf({ model, index, segments }: QueryPlan): readonly CompiledPart[] | undefined {
  const pinned = segments[0]?.equals.length ?? 0;
  if (segments.some(({ equals }) => equals.length !== pinned)) return undefined;
  if (index === undefined) return [];
  if (index.each !== undefined && index.each >= pinned) return undefined;
  const parts = index.parts.slice(pinned);
  const isPrimaryKey = parts.every(
    ({ field, descending, normalize, compute }, i) =>
      field === model.primaryKey[i] && !descending && !normalize && !compute,
  );
  return isPrimaryKey ? [] : parts;
}

function isSameKey(a: readonly CompiledPart[], b: readonly CompiledPart[]): boolean {
  return (
    a.length === b.length &&
    a.every(
      ({ field, descending, normalize, compute }, i) =>
        field === b[i]?.field &&
        descending === b[i].descending &&
        normalize === b[i].normalize &&
        compute === b[i].compute,
    )
  );
}

/** True if rows that are sorted by a key and the primary key are sorted by some fields. */
function startsWith(key: readonly CompiledPart[], order: readonly string[]): boolean {
  return order.every((name, i) => i < key.length && key[i]?.field === name);
}

/** Returns the parts by which a row of a merged plan is sorted. Equal only for the same row. */
export function sortPartsOf(
  plan: QueryPlan,
  { primaryKey }: Pick<FoundRow, "primaryKey">,
  entryKey: readonly KvKeyPart[],
): readonly KvKeyPart[] {
  const { index, segments } = plan;
  const length = sortKeyOf(plan)?.length ?? 0;
  if (index === undefined || length === 0) return primaryKey;
  const pinned = segments[0]?.equals.length ?? 0;
  return [...entryKey.slice(1 + pinned, 1 + pinned + length), ...primaryKey];
}

/**
 * Returns the key of a plan after which its rows come after a row with these sort parts. Undefined
 * if the keys do not contain these parts in this order.
 */
export function keyOfSortParts(plan: QueryPlan, parts: readonly KvKeyPart[]): KvKey | undefined {
  const { model, index, segments } = plan;
  const sortKey = sortKeyOf(plan) ?? [];
  const equals = segments[0]?.equals ?? [];
  if (index === undefined) return equals.length === 0 ? [model.place, ...parts] : undefined;
  if (equals.length + sortKey.length !== index.parts.length) return undefined;
  const own = index.unique ? parts.slice(0, sortKey.length) : parts;
  return [index.place, ...equals, ...own];
}
