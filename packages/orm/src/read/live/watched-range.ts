import type { KvKey, KvKeyPart, KvListSelector } from "@keywright/core";
import { changeMarkOfRead } from "../../derived/changes/change-marks.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { indexKeys } from "../../model/keys/index-entries.js";
import { rowKey } from "../../model/keys/primary-key.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadView } from "../../state/context/read-view.js";
import { plansOf, readablePlan } from "../plan/choose-plan.js";
import { resumePlan } from "../plan/ranges/cursor.js";
import {
  findSegment,
  type Plan,
  plansIn,
  type QueryPlan,
  selectorOf,
} from "../plan/ranges/query-plan.js";

export interface WatchedRange {
  /** The index of each range. Undefined for the rows themselves. */
  readonly indexes: readonly (CompiledIndex | undefined)[];
  readonly isReadable: boolean;
  /** May contain more keys than the query reads. Empty for the rows themselves. */
  readonly selectors: readonly KvListSelector[];
  readonly marks: readonly KvKey[];
  hasKey(key: KvKey): boolean;
  /** @throws {IndexKeyError} if the row has a value that cannot be part of a key. */
  hasRow(row: AnyRow, primaryKey: readonly KvKeyPart[]): boolean;
}

/** Each commit is compared with each range. With more segments, the whole index is watched. */
const maxRanges = 16;

/**
 * Returns the range that a query reads, chosen by the catalog of the view.
 *
 * @throws {UnindexedQueryError}, {InvalidQueryError} or {UnknownIndexError} if no index serves the
 * query.
 * @throws {InvalidCursorError} if the cursor belongs to another query.
 */
export function watchedRange(view: ReadView, query: AnyQuery): WatchedRange {
  const plans = plansOf(view, query);
  const plan = query.cursor ? resumePlan(plans, query.cursor).plan : readablePlan(view, plans);
  return rangeOfPlan(view, plan);
}

export function rangeOfPlan(view: ReadView, plan: Plan): WatchedRange {
  const { model } = plan;
  const plans = plansIn(plan);
  const indexes = plans.map(({ index }) => index);
  const { hasSameKey } = view.snapshot;
  const canRead = hasSameKey && indexes.every((index) => view.canRead(index));
  const hasKey = (key: KvKey) => plans.some((each) => findSegment(each, key) >= 0);
  return {
    indexes,
    isReadable: canRead,
    selectors: plans.flatMap((each) => selectorsOf(each)),
    // An index that is not readable may not be maintained either, and then its marks do not change.
    marks: canRead ? marksOf(plans) : [changeMarkOfRead(model, undefined, [])],
    hasKey,
    hasRow: (row, primaryKey) =>
      indexes.some((index) =>
        index === undefined
          ? hasKey(rowKey(model, primaryKey))
          : indexKeys(model, index, row, primaryKey).some(hasKey),
      ),
  };
}

function selectorsOf(plan: QueryPlan): KvListSelector[] {
  const { index, segments } = plan;
  if (index === undefined) return [];
  if (segments.length > maxRanges) return [{ prefix: [index.place] }];
  return segments.flatMap((segment) => selectorOf(plan, segment, undefined) ?? []);
}

function marksOf(plans: readonly QueryPlan[]): KvKey[] {
  const marks = plans.flatMap(({ model, index, segments }) =>
    segments.map(({ equals }) => changeMarkOfRead(model, index, equals)),
  );
  // The parts of a mark are names and the number of a bucket, so a joined text identifies it.
  return [...new Map(marks.map((mark) => [mark.join(), mark])).values()];
}
