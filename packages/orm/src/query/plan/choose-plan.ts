import type { KeyOrder } from "@keywright/core";
import type { AnyQuery } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { keyOrderOf } from "../../transaction/key-order-of.js";
import { type ResumedPlan, resumePlan } from "./cursor.js";
import { planQuery, planScan } from "./plan-query.js";
import type { QueryPlan } from "./query-plan.js";
import { assertKinds } from "./value-kinds.js";

/** A plan, and the key behind which to begin; from the beginning where it is undefined. */
export interface ChosenPlan {
  readonly plan: QueryPlan;
  readonly after: ResumedPlan["after"] | undefined;
}

/**
 * The best plan of a query whose index can be read now, or that of its cursor.
 *
 * @throws {IndexNotReadyError} where none of its indexes is built.
 * @throws {InvalidCursorError} for a cursor of another query.
 * @throws what {@link plansOf} throws.
 */
export async function choosePlan(context: TableContext, query: AnyQuery): Promise<ChosenPlan> {
  return await chooseOf(context, plansOf(context, query), query.cursor);
}

/**
 * The plans that serve a query, best first.
 *
 * @throws {InvalidQueryError} for a value of another kind than its field has.
 * @throws what {@link planQuery} throws.
 */
export function plansOf(context: TableContext, query: AnyQuery): QueryPlan[] {
  const plans = planQuery(context.model, query, orderIn(context));
  if (query.where !== undefined) assertKinds(context.model, query.where, plans);
  return plans;
}

/**
 * The plan of all rows.
 *
 * @throws {InvalidCursorError} for a cursor of another query.
 * @throws what {@link planScan} throws.
 */
export async function chooseScan(context: TableContext, query: AnyQuery): Promise<ChosenPlan> {
  return await chooseOf(context, [planScan(context.model, query)], query.cursor);
}

/** As {@link choosePlan}, of plans that are given. */
export async function chooseOf(
  context: TableContext,
  plans: readonly QueryPlan[],
  cursor: string | null | undefined,
): Promise<ChosenPlan> {
  if (cursor === undefined || cursor === null || cursor === "") {
    return { plan: await choose(context, plans), after: undefined };
  }
  const resumed = resumePlan(plans, cursor);
  const { index } = resumed.plan;
  if (index !== undefined) await context.catalog.assertReadable(index);
  return resumed;
}

/** The first plan whose index can be read, by what the database says where that is not known for sure. */
async function choose(context: TableContext, plans: readonly QueryPlan[]): Promise<QueryPlan> {
  const { catalog } = context;
  const known = readablePlan(context, plans);
  if (known.index === undefined || catalog.isReadable(known.index)) return known;
  await catalog.reload();
  const plan = readablePlan(context, plans);
  if (plan.index !== undefined) await catalog.assertReadable(plan.index);
  return plan;
}

/** The first plan whose index can be read, as far as is known; the very first where none can. */
export function readablePlan(context: TableContext, plans: readonly QueryPlan[]): QueryPlan {
  return plans.find(({ index }) => isReadable(context, index)) ?? plans[0]!;
}

/** Whether an index can be read, as far as is known. */
export function isReadable({ catalog }: TableContext, index: CompiledIndex | undefined): boolean {
  return index === undefined || catalog.snapshot.canRead(index);
}

/** In which order the database sorts its keys. */
export function orderIn({ kv }: TableContext): () => KeyOrder {
  return () => keyOrderOf(kv);
}
