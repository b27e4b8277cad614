import type { KvKey } from "@keywright/core";
import type { AnyQuery } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { elementSchema } from "../../model/fields/field-schema.js";
import { plansOf, readablePlan } from "../plan/choose-plan.js";
import { isCovered } from "../plan/covered-read.js";
import { keyFields } from "../plan/key-fields.js";
import {
  mayRepeat,
  nameOfIndex,
  prefixOf,
  type QueryPlan,
  readsWholeKeys,
} from "../plan/query-plan.js";
import { kindOf as kindOfValues } from "../plan/value-kinds.js";
import { takeOf } from "./read-page.js";
import { rowFilterOf } from "./row-filter.js";

/** The keys under a prefix, from `start` (inclusive) to `end` (exclusive). */
export interface ExplainedSegment {
  readonly prefix: KvKey;
  readonly start?: KvKey;
  readonly end?: KvKey;
}

/** The plan of a query, with its cost. */
export interface QueryExplanation {
  readonly model: string;
  /** The name of the index. `"primaryKey"` if rows are read by primary key or in its order. */
  readonly index: string;
  /** The kind of access: one key, several keys, ranges of keys, or every row of the model. */
  readonly kind: "unique" | "points" | "range" | "scan";
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
  /** The maximum number of entries and rows that are read. Undefined if there is no maximum. */
  readonly reads: number | undefined;
}

/** Returns the plan of a query, without reading anything. Throws the errors of `findMany`. */
export function explainQuery(context: TableContext, query: AnyQuery): QueryExplanation {
  const { model } = context;
  rowFilterOf(model, query.filter);
  takeOf(model, query);
  const plan = readablePlan(context, plansOf(context, query));
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
    reads: maxReadsOf(plan, query, covered),
  };
}

function kindOf(plan: QueryPlan): QueryExplanation["kind"] {
  const { index, segments } = plan;
  if (readsWholeKeys(plan)) return segments.length === 1 ? "unique" : "points";
  const [first] = segments;
  const isWhole =
    first?.equals.length === 0 &&
    first.interval.start === undefined &&
    first.interval.end === undefined;
  return index === undefined && isWhole ? "scan" : "range";
}

function maxReadsOf(plan: QueryPlan, query: AnyQuery, covered: boolean): number | undefined {
  const cost = covered ? 1 : 2;
  const keys = readsWholeKeys(plan) ? plan.segments.length * cost : Number.POSITIVE_INFINITY;
  // A page reads one entry more than it returns. With a filter, or with several entries per row,
  // the number of entries is not known.
  const isExact = query.filter === undefined && !mayRepeat(plan) && !mayReadOthers(plan);
  const page = isExact ? takeOf(plan.model, query) * cost + 1 : Number.POSITIVE_INFINITY;
  const max = Math.min(keys, page);
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
