import type { KeyOrder } from "@keywright/core";
import type { AnyQuery } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { keyOrderOf } from "../../transaction/key-order-of.js";
import { type ResumedPlan, resumePlan } from "./cursor.js";
import { planQuery, planScan } from "./plan-query.js";
import { alternativesOf } from "./query-fields.js";
import type { QueryPlan } from "./query-plan.js";
import { assertKinds } from "./value-kinds.js";

export interface ChosenPlan {
  readonly plan: QueryPlan;
  readonly after: ResumedPlan["after"] | undefined;
}

/** Returns the best plan whose index can be read now, or the plan that the cursor belongs to. */
export async function choosePlan(context: TableContext, query: AnyQuery): Promise<ChosenPlan> {
  return await chooseAmong(context, plansOf(context, query), query.cursor);
}

export function plansOf(context: TableContext, query: AnyQuery): QueryPlan[] {
  const plans = planQuery(context.model, query, orderIn(context));
  if (query.where !== undefined) {
    for (const where of alternativesOf(context.model, query.where)) {
      assertKinds(context.model, where, plans);
    }
  }
  return plans;
}

export async function chooseScan(context: TableContext, query: AnyQuery): Promise<ChosenPlan> {
  return await chooseAmong(context, [planScan(context.model, query)], query.cursor);
}

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

/** Returns the first plan whose index can be read. Reads the catalog again if there is none. */
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
 * Returns the first plan whose index the last known catalog shows as readable, or else the first.
 */
export function readablePlan<P extends Pick<QueryPlan, "index">>(
  context: TableContext,
  plans: readonly P[],
): P {
  return plans.find(({ index }) => isReadable(context, index)) ?? plans[0]!;
}

/** True if the last known catalog shows that an index can be read. Rows can always be read. */
export function isReadable({ catalog }: TableContext, index: CompiledIndex | undefined): boolean {
  return index === undefined || catalog.snapshot.canRead(index);
}

export function orderIn({ kv }: TableContext): () => KeyOrder {
  return () => keyOrderOf(kv);
}
