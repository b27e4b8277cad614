import type { AnyQuery } from "../../context/any-query.js";
import type { RelatedFilters } from "../../context/related-filters.js";
import { scopedQuery } from "../../context/scope.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { alternativesOf, parseQuery } from "./fields/query-fields.js";
import { assertKinds } from "./fields/value-kinds.js";
import { planOf, planScan } from "./plan-query.js";
import { planRows } from "./plan-rows.js";
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
  const query = scopedQuery(context, unscoped);
  const plans = planRows(queriedModel(context), query);
  if (query.where !== undefined) {
    for (const where of alternativesOf(context.model, query.where)) {
      assertKinds(context.model, where, plans.flatMap(plansIn));
    }
  }
  return plans;
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
  if (cursor === undefined || cursor === null || cursor === "") {
    return { plan: await chooseReadable(context, plans), after: undefined };
  }
  // A cursor of an index that is being rebuilt also belongs to the plan that cannot be read yet.
  const resumed = resumePlan([readablePlan(context, plans), ...plans], cursor);
  await assertReadable(context, resumed.plan);
  return resumed;
}

/** Returns the first plan whose indexes can be read. Reads the catalog again if there is none. */
async function chooseReadable(context: TableContext, plans: readonly Plan[]): Promise<Plan> {
  const { catalog } = context;
  const candidate = readablePlan(context, plans);
  const isKnown = plansIn(candidate).every(
    ({ index }) => index === undefined || catalog.isReadable(index),
  );
  if (isKnown) return candidate;
  await catalog.reload();
  const plan = readablePlan(context, plans);
  await assertReadable(context, plan);
  return plan;
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
  const canRead = (plan: Plan) => plansIn(plan).every(({ index }) => isReadable(context, index));
  return plans.find(canRead) ?? plans[0]!;
}

/** True if the last known catalog shows that an index can be read. Rows can always be read. */
export function isReadable({ catalog }: TableContext, index: CompiledIndex | undefined): boolean {
  return index === undefined || catalog.snapshot.canRead(index);
}

/** Returns the first unique index that can be read, or else the first. */
export function readableIndex(
  context: TableContext,
  indexes: readonly CompiledIndex[],
): CompiledIndex {
  return indexes.find((index) => isReadable(context, index)) ?? indexes[0]!;
}
