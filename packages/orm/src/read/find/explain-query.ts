import type { KvKey } from "@keywright/core";
import { elementSchema } from "../../model/fields/field-schema.js";
import { kindOf as kindOfValues } from "../../model/fields/value-kind.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ExplainedRelation } from "../../state/context/open-filters.js";
import type { ReadView } from "../../state/context/read-view.js";
import { plansOf, readablePlan } from "../plan/choose-plan.js";
import { keyFields } from "../plan/fields/key-fields.js";
import { alternativesOf } from "../plan/fields/query-fields.js";
import {
  isCovered,
  mayRepeat,
  nameOfIndex,
  type Plan,
  plansIn,
  prefixOf,
  type QueryPlan,
  readsWholeKeys,
} from "../plan/ranges/query-plan.js";
import { takeOf } from "./find-rows.js";
import { rowFilterOf } from "./rows/row-filter.js";

/** The keys under a prefix, from `start` (inclusive) to `end` (exclusive). */
export interface ExplainedSegment {
  readonly prefix: KvKey;
  readonly start?: KvKey;
  readonly end?: KvKey;
}

/** The plan of a query, with its cost. */
export interface QueryExplanation {
  readonly model: string;
  /**
   * The name of the index. `"primaryKey"` if rows are read by primary key or in its order. If the
   * members of `OR` use several indexes, their names separated by commas.
   */
  readonly index: string;
  /**
   * The kind of access: one key, several keys, ranges of keys, every row of the model, or ranges of
   * several indexes, whose rows are merged in their common order, or rows that a condition on
   * related rows finds, in the order of the primary key.
   */
  readonly kind: "unique" | "points" | "range" | "scan" | "merge" | "related";
  /**
   * The segments in index order. If `reverse` is true, the last one is read first. If a segment is
   * one complete key, `prefix` is that key.
   */
  readonly segments: readonly ExplainedSegment[];
  /** True if keys are read from the last to the first. */
  readonly reverse: boolean;
  /**
   * True if no rows are read in addition to index entries. Always true for reads by primary key.
   */
  readonly covered: boolean;
  /**
   * The fields of the index for which it leaves out rows: those that lack one of these fields are
   * not in the result, because `where` does not name it. Empty if no row is left out for this
   * reason.
   */
  readonly leavesOut: readonly string[];
  /** How the conditions on related rows are tested, if the query has any. */
  readonly relations?: readonly ExplainedRelation[];
  /** The maximum number of entries and rows that are read. Undefined if there is no maximum. */
  readonly reads: number | undefined;
}

/** Returns the plan of a query, without reading anything. Throws the errors of `findMany`. */
export function explainQuery(view: ReadView, query: AnyQuery): QueryExplanation {
  const { model } = view;
  rowFilterOf(model, query.filter);
  takeOf(model, query);
  const plan = readablePlan(view, plansOf(view, query));
  const plans = plansIn(plan);
  const covered = plans.every((each) => isCovered(view, each, query));
  const isFinding = plan.related?.isFinding === true;
  const relations = query.related?.explain(view, isFinding);
  return {
    model: model.name,
    index: nameOfIndex(plan),
    kind: isFinding ? "related" : kindOf(plan),
    segments: plans.flatMap(explainedSegments),
    reverse: plan.reverse,
    covered,
    leavesOut: leftOutFields(plans, query),
    ...(relations !== undefined && { relations }),
    reads:
      relations === undefined
        ? maxReadsOf(view, plan, query)
        : maxRelatedReads(plan, query, relations),
  };
}

function explainedSegments(plan: QueryPlan): ExplainedSegment[] {
  return plan.segments
    .filter(({ interval }) => !interval.isEmpty)
    .map((segment) => {
      const prefix = prefixOf(plan, segment);
      const { start, end } = segment.interval;
      return {
        prefix,
        ...(start !== undefined && { start: [...prefix, start] }),
        ...(end !== undefined && { end: [...prefix, end] }),
      };
    });
}

/** Returns the fields without a condition for which an index leaves out the rows that lack them. */
function leftOutFields(plans: readonly QueryPlan[], { where = {} }: AnyQuery): string[] {
  const fields = plans.flatMap(({ model, index }) => {
    const parts = index?.parts ?? [];
    return parts
      .filter(({ field, compute }) => compute !== undefined || model.optionalFields.has(field))
      .map(({ field }) => field);
  });
  const named = new Set(
    plans.flatMap(({ model }) => alternativesOf(model, where)).flatMap(Object.keys),
  );
  return [...new Set(fields)].filter((field) => !named.has(field));
}

function kindOf(plan: Plan): QueryExplanation["kind"] {
  if ("merged" in plan) return "merge";
  const { index, segments } = plan;
  if (readsWholeKeys(plan)) return segments.length === 1 ? "unique" : "points";
  const [first] = segments;
  const isWhole =
    first?.equals.length === 0 &&
    first.interval.start === undefined &&
    first.interval.end === undefined;
  return index === undefined && isWhole ? "scan" : "range";
}

function maxReadsOf(view: ReadView, plan: Plan, query: AnyQuery): number | undefined {
  const plans = plansIn(plan);
  // Among merged plans, each may be read up to the first row that the page does not have.
  if (query.skip !== undefined && query.skip > 0) return undefined;
  const rows = takeOf(plan.model, query) + ("merged" in plan ? 1 : 0);
  const reads = plans.map((each) => {
    const cost = isCovered(view, each, query) ? 1 : 2;
    const keys = readsWholeKeys(each) ? each.segments.length * cost : Number.POSITIVE_INFINITY;
    // A page reads one entry more than it returns. With a filter, or with several entries per row,
    // the number of entries is not known.
    const isExact = query.filter === undefined && !mayRepeat(each) && !mayReadOthers(each);
    return Math.min(keys, isExact ? rows * cost + 1 : Number.POSITIVE_INFINITY);
  });
  const max = reads.reduce((sum, each) => sum + each, 0);
  return Number.isFinite(max) ? max : undefined;
}

/** The same for a query with conditions on related rows. */
function maxRelatedReads(
  plan: Plan,
  query: AnyQuery,
  relations: readonly ExplainedRelation[],
): number | undefined {
  const plans = plansIn(plan);
  const before = relations.reduce((sum, { readsBefore }) => sum + readsBefore, 0);
  const perRow = relations.reduce(
    (sum, { readsPerRow = Number.POSITIVE_INFINITY }) => sum + readsPerRow,
    0,
  );
  // Only a single condition passes each row that it finds. Others may leave any number of rows out.
  const tests = relations.filter(({ access }) => access === "test").length;
  const isExact = plan.related?.isFinding === true && tests === 1 && query.filter === undefined;
  const isOfKeys = plan.related?.isFinding !== true && plans.every(readsWholeKeys);
  const keys = plans.reduce((sum, { segments }) => sum + segments.length, 0);
  const rows = isOfKeys ? keys : isExact ? takeOf(plan.model, query) : Number.POSITIVE_INFINITY;
  const cost = isOfKeys && plans.some(({ index }) => index !== undefined) ? 2 : 1;
  // Each row that passes is read once more at the end.
  const max = before + rows * (cost + perRow + 1);
  return Number.isFinite(max) ? max : undefined;
}

/** True if values of other types may lie within a range. They are read but not returned. */
function mayReadOthers({ model, index, segments }: QueryPlan): boolean {
  return segments.some(({ equals, interval }) => {
    if (interval.type === undefined) return false;
    const field = keyFields(model, index)[equals.length];
    if (field === undefined) return false;
    // A function may return values of any type.
    if (field.isComputed || field.isNormalized) return true;
    const schema = model.schema.shape[field.name];
    return schema === undefined || kindOfValues(elementSchema(schema) ?? schema) === undefined;
  });
}
