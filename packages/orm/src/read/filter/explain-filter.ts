import type { ExplainedRelation } from "../../state/context/open-filters.js";
import type { ReadView } from "../../state/context/read-view.js";
import {
  isCovered,
  nameOfIndex,
  type Plan,
  plansIn,
  type QueryPlan,
  readsWholeKeys,
} from "../plan/ranges/query-plan.js";
import { maxCollected } from "./collect-keys.js";
import type { FilterPlan } from "./filter-plan.js";
import { maxMatching } from "./list-matching.js";
import type { RelatedFilter } from "./related-filter.js";

/** Returns the steps of a condition: how it finds rows, if it does, and how it tests them. */
export function explainFilter(
  view: ReadView,
  filter: RelatedFilter,
  plan: FilterPlan,
  isFinding: boolean,
): ExplainedRelation[] {
  const { link, condition, query } = filter;
  const { relation, target, through } = link;
  const name = { relation: link.name, condition };
  const table = view.of(target);
  const isReferring = relation.kind === "hasMany" || relation.kind === "hasOne";
  const holder = relation.kind === "belongsTo" ? view.model : (through ?? target);
  const step = (each: Omit<ExplainedRelation, "relation" | "condition">) => ({ ...name, ...each });
  const steps: ExplainedRelation[] = [];
  // Related rows that do not refer to the rows are read before the rows that lead to them.
  const matching = plan.related && rowsOf(plan.related, maxMatching);
  const isTestByRows = relation.kind === "manyToMany" && query !== undefined;
  if (matching !== undefined && !isReferring && (isFinding || isTestByRows)) {
    const readsBefore = matching * costOf(table, plan.related!);
    const index = nameOfIndex(plan.related!);
    steps.push(step({ access: "collect", model: target.name, index, readsBefore, readsPerRow: 0 }));
  }
  const prefixes =
    isReferring || query === undefined
      ? (plan.walked?.segments.length ?? 0)
      : (matching ?? maxMatching);
  const collects = (isFinding && plan.find === "collect") || plan.test === "collect";
  if (isFinding && plan.find === "walk") {
    const index = nameOfIndex(plan.walked!);
    const reads = { readsBefore: 2 * prefixes, readsPerRow: 2 * prefixes };
    steps.push(step({ access: "find", model: holder.name, index, ...reads }));
  } else if (collects) {
    const readsBefore = (maxCollected + 1) * 2;
    const index = isReferring && plan.related ? nameOfIndex(plan.related) : indexOf(filter);
    steps.push(step({ access: "collect", model: holder.name, index, readsBefore, readsPerRow: 0 }));
  }
  const readsPerRow = readsOfTest(view, filter, plan, matching ?? maxMatching);
  const index = plan.lookup && plan.test === "lookup" ? nameOfIndex(plan.lookup) : "primaryKey";
  const model = relation.kind === "belongsTo" ? target.name : holder.name;
  steps.push(step({ access: "test", model, index, readsBefore: 0, readsPerRow }));
  const nested = query?.related?.explain(table, false) ?? [];
  return [
    ...steps,
    ...nested.map((each) => ({ ...each, relation: `${link.name}.${each.relation}` })),
  ];
}

/** Returns the maximum number of reads to test one row. Undefined if there is none. */
function readsOfTest(
  view: ReadView,
  { link, query }: RelatedFilter,
  { test, lookup }: FilterPlan,
  matching: number,
): number | undefined {
  const { relation, target, through } = link;
  if (relation.kind === "belongsTo") return 1;
  if (test === "collect") return relation.kind === "manyToMany" ? 2 : 1;
  // The related rows of a row are read until one meets the nested conditions.
  if (query?.related !== undefined && relation.kind !== "manyToMany") return undefined;
  const table = view.of(through ?? target);
  const cost = lookup === undefined ? 2 : costOf(table, lookup);
  if (relation.kind !== "manyToMany") return cost;
  return query === undefined ? cost + 1 : matching * (cost + 1);
}

/** Returns the maximum number of rows of a plan, but not more than a limit. */
function rowsOf(plan: Plan, limit: number): number {
  const plans = plansIn(plan);
  const isKnown = plan.related === undefined && plans.every(isOfKeys);
  const keys = plans.reduce((sum, { segments }) => sum + segments.length, 0);
  return isKnown ? Math.min(keys, limit) : limit + 1;
}

function isOfKeys(plan: QueryPlan): boolean {
  return readsWholeKeys(plan);
}

/** Returns the reads for each row of a plan: 2 if its entries lead to the rows. */
function costOf(view: ReadView, plan: Plan): number {
  const needed = { forWrite: true };
  return plansIn(plan).every((each) => isCovered(view, each, needed)) ? 1 : 2;
}

function indexOf({ link }: RelatedFilter): string {
  return link.index?.name ?? "primaryKey";
}
