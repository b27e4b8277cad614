import type { CompiledModel } from "../../model/compiled-model.js";
import { parseQuery } from "./fields/query-fields.js";
import { mergePlans } from "./merge-plans.js";
import {
  type PlannedQuery,
  plansOfAlternatives,
  sharedFields,
  unindexedError,
} from "./plan-query.js";
import type { Plan } from "./ranges/query-plan.js";

/**
 * Returns the plans that serve a query, best first: those of one index, or if the members of `OR`
 * need several indexes, those that merge them. All plans find the same rows.
 *
 * @throws {UnindexedQueryError} if no index serves a member of `OR`, or if the indexes do not have
 * their rows in the same order.
 * @throws the errors of `planQuery`.
 */
export function planRows(model: CompiledModel, query: PlannedQuery): readonly Plan[] {
  const alternatives = parseQuery(model, query);
  const plans = plansOfAlternatives(model, alternatives, query);
  if (plans.length > 0) return plans;
  if (alternatives.length === 1) throw unindexedError(model, alternatives);
  const each = alternatives.map((one) => plansOfAlternatives(model, [one], query));
  // An alternative without segments, such as that of an empty list of values, finds no rows.
  const findingRows = each.filter(([plan]) => plan === undefined || plan.segments.length > 0);
  if (findingRows.length === 0) return each[0] ?? [];
  const shared = sharedFields(alternatives);
  const free = [...alternatives[0].order.keys()].filter((name) => !shared.has(name));
  const merged = mergePlans(model, findingRows, free);
  if (merged.length === 0) throw unindexedError(model, alternatives);
  return merged;
}
