import type { CompiledModel } from "../../model/compiled-model.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { RelatedFilters } from "../../state/context/open-filters.js";
import type { ReadView } from "../../state/context/read-view.js";
import { scopedQuery } from "../../state/context/scope.js";
import { assertKinds } from "./fields/queried-value.js";
import { alternativesOf, parseQuery } from "./fields/query-fields.js";
import { mergePlans } from "./merge-plans.js";
import {
  type PlannedQuery,
  planOf,
  planScan,
  plansOfAlternatives,
  sharedFields,
  unindexedError,
} from "./plan-query.js";
import { type ResumedPlan, resumePlan } from "./ranges/cursor.js";
import { type Plan, plansIn } from "./ranges/query-plan.js";

export interface ChosenPlan {
  readonly plan: Plan;
  readonly after: ResumedPlan["after"] | undefined;
}

/** Returns the best plan whose indexes can be read now, or the plan that the cursor belongs to. */
export function choosePlan(view: ReadView, query: AnyQuery): Promise<ChosenPlan> {
  return chooseAmong(view, plansOf(view, query), query.cursor);
}

/** Returns the plans of a query, best first. Every method that takes a query chooses among them. */
export function plansOf(view: ReadView, unscoped: AnyQuery): readonly Plan[] {
  const { related } = unscoped;
  if (related !== undefined)
    return relatedPlans(view, { ...unscoped, related: undefined }, related);
  const query = view.scope === undefined ? unscoped : scopedQuery(view, unscoped);
  const plans = planRows(view.queriedModel, query);
  if (query.where !== undefined) {
    for (const where of alternativesOf(view.model, query.where)) {
      assertKinds(view.model, where, plans.flatMap(plansIn));
    }
  }
  return plans;
}

/**
 * Returns the plans that serve a query, best first: those of one index, or if the members of `OR`
 * need several indexes, those that merge them. All plans find the same rows.
 *
 * @throws {UnindexedQueryError} if no index serves a member of `OR`, or if the indexes do not have
 * their rows in the same order.
 * @throws the errors of `planQuery`.
 */
function planRows(model: CompiledModel, query: PlannedQuery): readonly Plan[] {
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

/**
 * Returns the plans of a query with conditions on related rows. The other conditions and the order
 * find its rows. If there are none, or only an order by the primary key, one of the conditions on
 * related rows finds them if it can.
 */
function relatedPlans(view: ReadView, query: AnyQuery, related: RelatedFilters): readonly Plan[] {
  const { model } = view;
  const { id } = related;
  const [fields, ...others] = parseQuery(model, query);
  const isOpen = fields.conditions.size === 0 && others.length === 0 && query.index === undefined;
  const ordered = isOpen ? planOf(model, undefined, [fields]) : undefined;
  const isUnordered = isOpen && fields.order.size === 0;
  const isFinding = ordered !== undefined && (isUnordered || related.canFind(view));
  related.assertServed(view, isFinding);
  if (isFinding) return [{ ...ordered, related: { id, isFinding } }];
  return plansOf(view, query).map((plan) => ({ ...plan, related: { id, isFinding } }));
}

export function chooseScan(view: ReadView, query: AnyQuery): Promise<ChosenPlan> {
  return chooseAmong(view, [planScan(view.model, query, view.scope)], query.cursor);
}

export async function chooseAmong(
  view: ReadView,
  plans: readonly Plan[],
  cursor: string | null | undefined,
): Promise<ChosenPlan> {
  if (!view.isChecked) await view.refresh();
  const candidate = readablePlan(view, plans);
  if (cursor !== undefined && cursor !== null && cursor !== "") {
    // A cursor of an index that is being rebuilt also belongs to the plan that cannot be read yet.
    const resumed = resumePlan([candidate, ...plans], cursor);
    await assertReadable(view, resumed.plan);
    return resumed;
  }
  if (canRead(view, candidate)) return { plan: candidate, after: undefined };
  await view.reload();
  const plan = readablePlan(view, plans);
  await assertReadable(view, plan);
  return { plan, after: undefined };
}

async function assertReadable(view: ReadView, plan: Plan): Promise<void> {
  for (const { index } of plansIn(plan)) {
    if (index !== undefined) await view.assertReadable(index);
  }
}

/** Returns the first plan whose indexes can be read, or else the first. */
export function readablePlan<P extends Plan>(view: ReadView, plans: readonly P[]): P {
  for (const plan of plans) if (canRead(view, plan)) return plan;
  return plans[0]!;
}

function canRead(view: ReadView, plan: Plan): boolean {
  for (const { index } of plansIn(plan)) if (!view.canRead(index)) return false;
  return true;
}
