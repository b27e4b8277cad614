import type { KvKey } from "@keywright/core";
import type { AnyQuery } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { elementSchema } from "../../model/field-values.js";
import { plansOf, readablePlan } from "../plan/choose-plan.js";
import { isCovered } from "../plan/covered-read.js";
import { keyFields } from "../plan/key-fields.js";
import { planScan } from "../plan/plan-query.js";
import { queryFields } from "../plan/query-fields.js";
import { isPoints, mayRepeat, nameOfIndex, prefixOf, type QueryPlan } from "../plan/query-plan.js";
import { kindOf as kindOfValues } from "../plan/value-kinds.js";
import { takeOf } from "./read-page.js";
import { rowFilterOf } from "./row-filter.js";

/** A stretch of keys that a query reads: those under a prefix, from `start` (inclusive) to `end` (exclusive). */
export interface ExplainedSegment {
  readonly prefix: KvKey;
  readonly start?: KvKey;
  readonly end?: KvKey;
}

/** How a query is answered. */
export interface QueryExplanation {
  readonly model: string;
  /** The name of the index; `"primaryKey"` for the rows by their primary key, or in its order. */
  readonly index: string;
  /**
   * What is read: one key, several keys, ranges of keys, or every row of the model.
   */
  readonly kind: "unique" | "points" | "range" | "scan";
  /** In the order of the index: with `reverse` the last of them is read first. Of whole keys, the prefix is the key. */
  readonly segments: readonly ExplainedSegment[];
  /** From the last key to the first. */
  readonly reverse: boolean;
  /** Index entries, or rows by primary key, are all that is read: no row beside an index entry. */
  readonly covered: boolean;
  /** How many entries and rows are read at the most; undefined where nothing bounds it. */
  readonly reads: number | undefined;
}

/**
 * Says how a query would be answered, without reading anything. A query that says nothing is a `scan`.
 *
 * @throws {UnindexedQueryError}, {InvalidQueryError}, {UnknownIndexError} as `findMany` does.
 */
export function explainQuery(context: TableContext, query: AnyQuery): QueryExplanation {
  const { model } = context;
  rowFilterOf(model, query.filter);
  const { conditions, order } = queryFields(model, query);
  const isScan = query.index === undefined && conditions.size + order.size === 0;
  const plan = isScan ? planScan(model, query) : readablePlan(context, plansOf(context, query));
  const covered = isCovered(context, plan, query);
  return {
    model: model.name,
    index: nameOfIndex(plan),
    kind: kindOf(plan),
    segments: plan.segments
      .filter(({ interval }) => !interval.isEmpty)
      .map((segment) => {
        const prefix = prefixOf(plan, segment);
        const { start, end } = segment.interval;
        return {
          prefix,
          ...(start !== undefined && { start: [...prefix, start] }),
          ...(end !== undefined && { end: [...prefix, end] }),
        };
      }),
    reverse: plan.reverse,
    covered,
    reads: mostReads(plan, query, covered),
  };
}

function kindOf(plan: QueryPlan): QueryExplanation["kind"] {
  const { index, segments } = plan;
  if (isPoints(plan)) return segments.length === 1 ? "unique" : "points";
  const [first] = segments;
  const isWhole =
    first?.equals.length === 0 &&
    first.interval.start === undefined &&
    first.interval.end === undefined;
  return index === undefined && isWhole ? "scan" : "range";
}

function mostReads(plan: QueryPlan, query: AnyQuery, covered: boolean): number | undefined {
  const cost = covered ? 1 : 2;
  const keys = isPoints(plan) ? plan.segments.length * cost : Number.POSITIVE_INFINITY;
  // Of a page, one entry more than it has; with a filter or several entries of one row, who knows how many.
  const isExact = query.filter === undefined && !mayRepeat(plan) && !mayReadOthers(plan);
  const page = isExact ? takeOf(query) * cost + 1 : Number.POSITIVE_INFINITY;
  const most = Math.min(keys, page);
  return Number.isFinite(most) ? most : undefined;
}

/** Whether values of other types may lie between the bounds of a range, which are read and left out. */
function mayReadOthers({ model, index, segments }: QueryPlan): boolean {
  return segments.some(({ equals, interval }) => {
    if (interval.type === undefined) return false;
    const field = keyFields(model, index)[equals.length];
    if (field === undefined) return false;
    // What a function makes of values may be of any type.
    if (field.isComputed || field.isNormalized) return true;
    const schema = model.schema.shape[field.name];
    return schema === undefined || kindOfValues(elementSchema(schema) ?? schema) === undefined;
  });
}
