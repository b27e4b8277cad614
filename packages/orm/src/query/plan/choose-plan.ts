import type { KeyOrder } from "@keywright/core";
import type { AnyQuery } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { keyOrderOf } from "../../transaction/key-order-of.js";
import { type ResumedPlan, resumePlan } from "./cursor.js";
import { planQuery, planScan } from "./plan-query.js";
import type { QueryPlan } from "./query-plan.js";
import { assertKinds } from "./value-kinds.js";

/** A plan and the key to start after, or undefined to start at the beginning. */
export interface ChosenPlan {
  readonly plan: QueryPlan;
  readonly after: ResumedPlan["after"] | undefined;
}

/**
 * Returns the best plan of a query whose index can be read now. If the query has a cursor, returns
 * the plan that the cursor belongs to.
 *
 * @throws {IndexNotReadyError} if none of the indexes that serve the query is built.
 * @throws {InvalidCursorError} if the cursor belongs to another query.
 * @throws the errors of {@link plansOf}.
 */
export async function choosePlan(context: TableContext, query: AnyQuery): Promise<ChosenPlan> {
  return await chooseAmong(context, plansOf(context, query), query.cursor);
}

/**
 * Returns the plans that serve a query, best first.
 *
 * @throws {InvalidQueryError} if a value is of another kind than the values of its field.
 * @throws the errors of {@link planQuery}.
 */
export function plansOf(context: TableContext, query: AnyQuery): QueryPlan[] {
  const plans = planQuery(context.model, query, orderIn(context));
  if (query.where !== undefined) assertKinds(context.model, query.where, plans);
  return plans;
}

/**
 * Returns the plan that reads all rows.
 *
 * @throws {InvalidCursorError} if the cursor belongs to another query.
 * @throws the errors of {@link planScan}.
 */
export async function chooseScan(context: TableContext, query: AnyQuery): Promise<ChosenPlan> {
  return await chooseAmong(context, [planScan(context.model, query)], query.cursor);
}

/** Chooses one of some plans as {@link choosePlan} does. */
export async function chooseAmong(
  context: TableContext,
  plans: readonly QueryPlan[],
  cursor: string | null | undefined,
): Promise<ChosenPlan> {
  if (cursor === undefined || cursor === null || cursor === "") {
    return { plan: await chooseReadable(context, plans), after: undefined };
  }
  const resumed = resumePlan(plans, cursor);
  const { index } = resumed.plan;
  if (index !== undefined) await context.catalog.assertReadable(index);
  return resumed;
}

/**
 * Returns the first plan whose index can be read. Reads the catalog again if its last known state
 * is too old, or if no index can be read according to it.
 */
async function chooseReadable(
  context: TableContext,
  plans: readonly QueryPlan[],
): Promise<QueryPlan> {
  const { catalog } = context;
  const candidate = readablePlan(context, plans);
  if (candidate.index === undefined || catalog.isReadable(candidate.index)) return candidate;
  await catalog.reload();
  const plan = readablePlan(context, plans);
  if (plan.index !== undefined) await catalog.assertReadable(plan.index);
  return plan;
}

/**
 * Returns the first plan whose index can be read according to the last known catalog. Returns the
 * first plan if there is none.
 */
export function readablePlan<P extends Pick<QueryPlan, "index">>(
  context: TableContext,
  plans: readonly P[],
): P {
  return plans.find(({ index }) => isReadable(context, index)) ?? plans[0]!;
}

/**
 * True if an index can be read according to the last known catalog. Rows, for which `index` is
 * undefined, can always be read.
 */
export function isReadable({ catalog }: TableContext, index: CompiledIndex | undefined): boolean {
  return index === undefined || catalog.snapshot.canRead(index);
}

/** Returns a function that finds out how the database orders its keys. */
export function orderIn({ kv }: TableContext): () => KeyOrder {
  return () => keyOrderOf(kv);
}
