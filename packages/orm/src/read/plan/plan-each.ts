import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadView } from "../../state/context/read-view.js";
import { areInScope, scopedQuery } from "../../state/context/scope.js";
import { readablePlan } from "./choose-plan.js";
import { keyFields } from "./fields/key-fields.js";
import { planQuery } from "./plan-query.js";
import type { QueryPlan, Segment } from "./ranges/query-plan.js";

/** The same query for many values of some fields. */
export interface EachQuery {
  readonly query: Pick<AnyQuery, "where" | "orderBy" | "index" | "select" | "include" | "filter">;
  readonly fields: readonly string[];
  /** The values of the fields, one list for each query. */
  readonly values: readonly (readonly unknown[])[];
}

/**
 * Returns a plan for each of the values. If the plans differ only in the values, the query is
 * planned once.
 */
export function planEach(view: ReadView, { query, fields, values }: EachQuery): QueryPlan[] {
  const planFor = (own: readonly unknown[]): QueryPlan => {
    const conditions = fields.map((field, i) => [field, own[i]] as const);
    const where = { ...Object.fromEntries(conditions), ...query.where };
    const plans = planQuery(view.queriedModel, scopedQuery(view, { ...query, where }));
    return readablePlan(view, plans);
  };
  const [first, ...others] = values;
  if (first === undefined) return [];
  const plan = planFor(first);
  const withValues = others.length === 0 ? undefined : valuesInto(view, plan, fields, values);
  return [plan, ...others.map(withValues ?? planFor)];
}

/** Returns the function that puts other values of fields into a plan, if the plan allows it. */
function valuesInto(
  view: ReadView,
  plan: QueryPlan,
  fields: readonly string[],
  values: EachQuery["values"],
): ((own: readonly unknown[]) => QueryPlan) | undefined {
  const { model, index, segments } = plan;
  const positions = positionsOf(view, plan, segments, { fields, values });
  if (positions === undefined) return undefined;
  const parts = keyFields(model, index);
  return (own) => {
    const replaced: Segment[] = [];
    for (const { equals, interval } of segments) {
      const key = [...equals];
      for (const [position, i] of positions) key[position] = parts[position]!.partOf(own[i]);
      replaced.push({ equals: key, interval });
    }
    return { ...plan, segments: replaced };
  };
}

/**
 * Returns the positions in the keys of a plan that have the values of fields, and the positions of
 * the fields. Undefined if the keys do not have a value for each of the fields, or if the plan does
 * not have the rows of all values.
 */
export function positionsOf(
  view: ReadView,
  { model, index }: QueryPlan,
  segments: readonly Segment[],
  { fields, values }: Omit<EachQuery, "query">,
): readonly (readonly [number, number])[] | undefined {
  // Within a scope, a query with another value of one of its fields is refused.
  if (!areInScope(view, fields, values)) return undefined;
  // The same index may not have the rows of other values.
  if (fields.some((field) => Object.hasOwn(index?.condition ?? {}, field))) return undefined;
  const length = segments[0]?.equals.length ?? 0;
  const positions = keyFields(model, index)
    .slice(0, length)
    .flatMap(({ name }, position) => {
      const i = fields.indexOf(name);
      return i < 0 ? [] : [[position, i] as const];
    });
  const found = new Set(positions.map(([, i]) => i));
  return found.size === fields.length ? positions : undefined;
}
