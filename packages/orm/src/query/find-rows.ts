import { primaryKeyOf } from "../indexes/primary-key.js";
import type { AnyRow } from "../model/compiled-model.js";
import type { AnyQuery, FoundRow } from "./any-query.js";
import { findByPrimaryKey, findByUniqueIndex } from "./find-unique.js";
import type { IndexRead } from "./index-read.js";
import { planQuery, planUnique } from "./plan-query.js";
import type { ReadMeter } from "./read-meter.js";
import { type Page, readPage } from "./read-page.js";
import type { TableContext } from "./table-context.js";

export async function findOne(
  context: TableContext,
  where: AnyRow,
  _meter: ReadMeter,
  _query: AnyQuery,
): Promise<FoundRow | undefined> {
  const index = planUnique(context.model, where);
  if (index === "primaryKey") {
    return await findByPrimaryKey(context, primaryKeyOf(context.model, where));
  }
  return await findByUniqueIndex(
    context,
    index,
    index.fields.map((field) => where[field]),
  );
}

export async function findPage(
  context: TableContext,
  query: AnyQuery,
  _meter: ReadMeter,
): Promise<Page<FoundRow>> {
  const { model, catalog } = context;
  const reads = planQuery(model, query as never);
  const isReadable = ({ index }: IndexRead) =>
    index === undefined || catalog.snapshot.stateOf(index) === "readable";
  const read = reads.find(isReadable) ?? reads[0]!;
  const page = await readPage(context, read, query);
  return {
    cursor: page.cursor,
    items: page.items.map((row) => ({ row, primaryKey: [], versionstamp: "" })),
  };
}

export async function scanPage(
  _context: TableContext,
  _query: AnyQuery,
  _meter: ReadMeter,
): Promise<Page<FoundRow>> {
  throw new Error("not there yet");
}

export async function* streamRows(
  _context: TableContext,
  _query: AnyQuery,
  _meter: ReadMeter,
): AsyncGenerator<FoundRow> {
  throw new Error("not there yet");
}

export async function* scanRows(
  _context: TableContext,
  _query: AnyQuery,
  _meter: ReadMeter,
): AsyncGenerator<FoundRow> {
  throw new Error("not there yet");
}
