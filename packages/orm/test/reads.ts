import type { AnyRow } from "../src/model/compiled-model.js";
import * as count from "../src/read/aggregate/count-rows.js";
import * as explained from "../src/read/find/explain-query.js";
import * as find from "../src/read/find/find-rows.js";
import * as unique from "../src/read/find/find-unique.js";
import type { choosePlan } from "../src/read/plan/choose-plan.js";
import type { AnyQuery, FoundRow } from "../src/state/context/any-query.js";
import type { Page } from "../src/state/context/page.js";
import type { ReadMeter } from "../src/state/context/read-meter.js";
import { takeReadView, viewOf, withReadView } from "../src/state/context/read-view.js";
import type { TableContext } from "../src/state/context/table-context.js";

// The reads of the ORM, each through a view of its own, without the options of a call.

export function findOne(
  table: TableContext,
  where: AnyRow,
  meter: ReadMeter,
  query?: AnyQuery,
): Promise<FoundRow | undefined> {
  return withReadView(table, [], async (view) => unique.findOne(view, where, meter, query));
}

export function findPage(
  table: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
  choose?: typeof choosePlan,
): Promise<Page<FoundRow>> {
  return withReadView(table, [], (view) => find.findPage(view, query, meter, choose));
}

export function findFirstRow(
  table: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  return withReadView(table, [], (view) => find.findFirstRow(view, query, meter));
}

export async function* streamRows(
  table: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
  choose?: typeof choosePlan,
): AsyncGenerator<FoundRow> {
  yield* find.streamRows(await takeReadView(table, query), query, meter, choose);
}

export function countRows(table: TableContext, query: AnyQuery, meter: ReadMeter): Promise<number> {
  return withReadView(table, [], (view) => count.countRows(view, query, meter));
}

export function rowExists(
  table: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<boolean> {
  return withReadView(table, [], (view) => count.rowExists(view, query, meter));
}

export function explainQuery(table: TableContext, query: AnyQuery): explained.QueryExplanation {
  return explained.explainQuery(viewOf(table), query);
}
