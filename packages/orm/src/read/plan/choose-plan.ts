import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { RelatedFilters } from "../../state/context/open-filters.js";
import { scopedQuery } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";
import { alternativesOf, parseQuery } from "./fields/query-fields.js";
import { assertKinds } from "./fields/value-kinds.js";
import { mergePlans } from "./merge-plans.js";
import {
  type PlannedQuery,
  planOf,
  planScan,
  plansOfAlternatives,
  sharedFields,
  unindexedError,
} from "./plan-query.js";
import { queriedModel } from "./queried-model.js";
import { type ResumedPlan, resumePlan } from "./ranges/cursor.js";
import { type Plan, plansIn } from "./ranges/query-plan.js";

export interface ChosenPlan {
  readonly plan: Plan;
  readonly after: ResumedPlan["after"] | undefined;
}

/** Returns the best plan whose indexes can be read now, or the plan that the cursor belongs to. */
export async function choosePlan(context: TableContext, query: AnyQuery): Promise<ChosenPlan> {
  return await chooseAmong(context, plansOf(context, query), query.cursor);
}

/** Returns the plans of a query, best first. Every method that takes a query chooses among them. */
export function plansOf(context: TableContext, unscoped: AnyQuery): readonly Plan[] {
  const { related } = unscoped;
  if (related !== undefined)
    return relatedPlans(context, { ...unscoped, related: undefined }, related);
  const query = context.scope === undefined ? unscoped : scopedQuery(context, unscoped);
  const plans = planRows(queriedModel(context), query);
  if (query.where !== undefined) {
    for (const where of alternativesOf(context.model, query.where)) {
      assertKinds(context.model, where, plans.flatMap(plansIn));
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
function relatedPlans(
  context: TableContext,
  query: AnyQuery,
  related: RelatedFilters,
): readonly Plan[] {
  const { model } = context;
  const { id } = related;
  const [fields, ...others] = parseQuery(model, query);
  const isOpen = fields.conditions.size === 0 && others.length === 0 && query.index === undefined;
  const ordered = isOpen ? planOf(model, undefined, [fields]) : undefined;
  const isUnordered = isOpen && fields.order.size === 0;
  const isFinding = ordered !== undefined && (isUnordered || related.canFind(context));
  related.assertServed(context, isFinding);
  if (isFinding) return [{ ...ordered, related: { id, isFinding } }];
  return plansOf(context, query).map((plan) => ({ ...plan, related: { id, isFinding } }));
}

export async function chooseScan(context: TableContext, query: AnyQuery): Promise<ChosenPlan> {
  return await chooseAmong(context, [planScan(context.model, query, context.scope)], query.cursor);
}

export async function chooseAmong(
  context: TableContext,
  plans: readonly Plan[],
  cursor: string | null | undefined,
): Promise<ChosenPlan> {
  const { catalog } = context;
  const candidate = readablePlan(context, plans);
  if (cursor !== undefined && cursor !== null && cursor !== "") {
    // A cursor of an index that is being rebuilt also belongs to the plan that cannot be read yet.
    const resumed = resumePlan([candidate, ...plans], cursor);
    await assertReadable(context, resumed.plan);
    return resumed;
  }
  const isKnown = catalog.isFresh || !usesIndex(candidate);
  if (isKnown && canRead(catalog.snapshot, candidate)) return { plan: candidate, after: undefined };
  await catalog.reload();
  const plan = readablePlan(context, plans);
  await assertReadable(context, plan);
  return { plan, after: undefined };
}

async function assertReadable({ catalog }: TableContext, plan: Plan): Promise<void> {
  for (const { index } of plansIn(plan)) {
    if (index !== undefined) await catalog.assertReadable(index);
  }
}

/**
 * Returns the first plan whose indexes the last known catalog shows as readable, or else the first.
 */
export function readablePlan<P extends Plan>(context: TableContext, plans: readonly P[]): P {
  const { snapshot } = context.catalog;
  for (const plan of plans) if (canRead(snapshot, plan)) return plan;
  return plans[0]!;
}

/** True if a snapshot shows all indexes of a plan as readable. Rows can always be read. */
function canRead(snapshot: CatalogSnapshot, plan: Plan): boolean {
  for (const { index } of plansIn(plan)) {
    if (index !== undefined && !snapshot.canRead(index)) return false;
  }
  return true;
}

function usesIndex(plan: Plan): boolean {
  return plansIn(plan).some(({ index }) => index !== undefined);
}

/** True if the last known catalog shows that an index can be read. Rows can always be read. */
export function isReadable({ catalog }: TableContext, index: CompiledIndex | undefined): boolean {
  return index === undefined || catalog.snapshot.canRead(index);
}
