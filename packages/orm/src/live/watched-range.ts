import type { KvKey, KvKeyPart, KvListSelector } from "@keywright/core";
import type { AnyQuery } from "../context/any-query.js";
import type { TableContext } from "../context/table-context.js";
import { changeMarkOfRead } from "../indexes/change-marks.js";
import { indexKeys } from "../indexes/index-entries.js";
import { rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledIndex } from "../model/compiled-model.js";
import { isReadable, orderIn, readablePlan } from "../query/plan/choose-plan.js";
import { resumePlan } from "../query/plan/cursor.js";
import { planQuery } from "../query/plan/plan-query.js";
import {
  keyLength,
  prefixOf,
  type QueryPlan,
  segmentOf,
  selectorOf,
} from "../query/plan/query-plan.js";

/** Where the rows of a query are found. */
export interface WatchedRange {
  /** The index that it is a range of; undefined for the rows themselves. */
  readonly index: CompiledIndex | undefined;
  /** Whether it could be read when the range was made. */
  readonly isReadable: boolean;
  /** The ranges of an index's keys that tell of its changes, and perhaps of others; none for the rows themselves. */
  readonly selectors: readonly KvListSelector[];
  /** The marks that change with the rows in the range, each of them once. */
  readonly marks: readonly KvKey[];
  /** Whether a key is one of those that the query reads. */
  hasKey(key: KvKey): boolean;
  /**
   * Whether a row is to have a key among those that the query reads.
   *
   * @throws {IndexKeyError} where it has a value that no key holds.
   */
  hasRow(row: AnyRow, primaryKey: readonly KvKeyPart[]): boolean;
}

/** For more stretches of an index all of it is watched: each commit is compared with each range. */
const maxRanges = 16;

/** Sorts before every other part: no key stands between one and the same with this part behind it. */
const nothing: Uint8Array = new Uint8Array();

/**
 * The range of the index that serves a query, by what is known of the model's indexes.
 *
 * @throws {UnindexedQueryError}, {InvalidQueryError} and {UnknownIndexError} for a query that no index serves.
 * @throws {InvalidCursorError} for a cursor of another query.
 */
export function watchedRange(context: TableContext, query: AnyQuery): WatchedRange {
  const plans = planQuery(context.model, query, orderIn(context));
  const plan = query.cursor ? resumePlan(plans, query.cursor).plan : readablePlan(context, plans);
  return rangeOfPlan(context, plan);
}

/** The range that a plan reads. */
export function rangeOfPlan(context: TableContext, plan: QueryPlan): WatchedRange {
  const { model, index } = plan;
  const canRead = isReadable(context, index);
  const hasKey = (key: KvKey) => segmentOf(plan, key) >= 0;
  return {
    index,
    isReadable: canRead,
    selectors: selectorsOf(plan),
    // An index that is not readable may not be written either.
    marks: canRead ? marksOf(plan) : [changeMarkOfRead(model, undefined, [])],
    hasKey,
    hasRow: (row, primaryKey) =>
      index === undefined
        ? hasKey(rowKey(model, primaryKey))
        : indexKeys(model, index, row, primaryKey).some(hasKey),
  };
}

function selectorsOf(plan: QueryPlan): KvListSelector[] {
  const { model, index, segments } = plan;
  if (index === undefined) return [];
  if (segments.length > maxRanges) return [{ prefix: [index.prefix] }];
  const length = keyLength(model, index);
  return segments.flatMap((segment) => {
    const prefix = prefixOf(plan, segment);
    if (prefix.length === length) return { start: prefix, end: [...prefix, nothing] };
    return selectorOf(plan, segment, undefined) ?? [];
  });
}

function marksOf({ model, index, segments }: QueryPlan): KvKey[] {
  const marks = segments.map(({ equals }) => changeMarkOfRead(model, index, equals));
  // Their parts are names and the number of a bucket.
  return [...new Map(marks.map((mark) => [mark.join(), mark])).values()];
}
