import { type AtomicCheck, monotonicUlid } from "@keywright/core";
import { PrimaryKeyChangeError, RowNotFoundError } from "../errors/row-errors.js";
import { primaryKeyOfEntry } from "../indexes/entry-value.js";
import { type IndexEntry, indexChanges, indexEntries } from "../indexes/index-entries.js";
import { isSameKey, isSamePart, keyPartOf } from "../indexes/key-parts.js";
import { primaryKeyOf } from "../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import type { FoundRow } from "../query/any-query.js";
import type { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";
import { commitChange } from "./commit-change.js";
import { parsePatch, parseRow } from "./parse-row.js";
import type { WriteOptions } from "./write-options.js";

/** Finds the row to write, anew after each conflict. */
export type FindRow = () => Promise<FoundRow | undefined>;

/**
 * Creates a row and returns it.
 *
 * @throws {RowInvalidError} where the schema refuses the data.
 * @throws {UniqueConstraintError} where another row has its primary key or a unique value.
 */
export async function createRow(
  context: TableContext,
  data: unknown,
  _options: WriteOptions,
  _meter: ReadMeter,
): Promise<FoundRow> {
  const { model } = context;
  const row = await parseRow(model, withId(model, data));
  const primaryKey = primaryKeyOf(model, row);
  await commitChange(context, async ({ maintained }) => {
    const added = indexEntries(model, maintained, row, primaryKey);
    return {
      primaryKey,
      versionstamp: null,
      row,
      indexes: { removed: [], added, rewritten: [] },
      checks: [],
    };
  });
  return { row, primaryKey, versionstamp: "" };
}

/**
 * Changes fields of a row and returns it as it is then.
 *
 * @param where names the row in the error.
 * @throws {RowNotFoundError} where there is none.
 * @throws {RowInvalidError} where the schema refuses the changed row.
 * @throws {UniqueConstraintError} where another row has a unique value.
 * @throws {PrimaryKeyChangeError} where the data name another primary key.
 */
export async function updateRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  data: AnyRow,
  _options: WriteOptions,
  _meter: ReadMeter,
): Promise<FoundRow> {
  // What is written is what the caller handed over, whatever becomes of the object meanwhile.
  const patch = { ...data };
  return await changeRow(context, find, where, async (before) => {
    const after = await parsePatch(context.model, before, patch);
    assertSamePrimaryKey(context.model, before, after);
    return { row: after, result: after };
  });
}

/**
 * Removes a row and returns it as it was.
 *
 * @param where names the row in the error.
 * @throws {RowNotFoundError} where there is none.
 */
export async function deleteRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  _options: WriteOptions,
  _meter: ReadMeter,
): Promise<FoundRow> {
  return await changeRow(context, find, where, async (before) => ({
    row: null,
    result: before,
  }));
}

async function changeRow(
  context: TableContext,
  find: FindRow,
  where: unknown,
  change: (before: AnyRow) => Promise<{ row: AnyRow | null; result: AnyRow }>,
): Promise<FoundRow> {
  const { model } = context;
  let written: AnyRow = {};
  await commitChange(context, async ({ maintained }) => {
    const found = await find();
    if (found === undefined) throw new RowNotFoundError(model.name, where);
    const { primaryKey, versionstamp } = found;
    const { row, result } = await change(found.row);
    written = result;
    const before = indexEntries(model, maintained, found.row, primaryKey);
    const after = row === null ? [] : indexEntries(model, maintained, row, primaryKey);
    const { removed, added, rewritten } = indexChanges(before, after);
    const own = await ownEntries(context, removed);
    const kept = await ownEntries(context, rewritten);
    const indexes = { removed: own.entries, added, rewritten: kept.entries };
    return { primaryKey, versionstamp, row, indexes, checks: [...own.checks, ...kept.checks] };
  });
  return { row: written, primaryKey: [], versionstamp: "" };
}

/**
 * Without the unique entries that belong to another row, or are not there, as they may while a unique index is built or
 * has duplicates. The checks say that it still is so at the commit: a backfill may be about to write them.
 */
async function ownEntries(
  { kv, model }: TableContext,
  removed: readonly IndexEntry[],
): Promise<{ entries: IndexEntry[]; checks: AtomicCheck[] }> {
  const entries: IndexEntry[] = [];
  const checks: AtomicCheck[] = [];
  for (const entry of removed) {
    if (entry.index.unique) {
      const { value: pointer, versionstamp } = await kv.get(entry.key);
      checks.push({ key: entry.key, versionstamp });
      const owner = primaryKeyOfEntry(model, entry.index, pointer);
      const self = primaryKeyOfEntry(model, entry.index, entry.value);
      if (owner === undefined || self === undefined || !isSameKey(owner, self)) continue;
    }
    entries.push(entry);
  }
  return { entries, checks };
}

/** What `create` was given, with an id where the model generates one and none is there. */
function withId(model: CompiledModel, data: unknown): unknown {
  const field = model.primaryKey[0]!;
  if (!model.generatesId || typeof data !== "object" || data === null) return data;
  return (data as AnyRow)[field] === undefined ? { ...data, [field]: monotonicUlid() } : data;
}

function assertSamePrimaryKey(model: CompiledModel, before: AnyRow, after: AnyRow): void {
  for (const field of model.primaryKey) {
    if (isSamePart(keyPartOf(before[field]), keyPartOf(after[field]))) continue;
    throw new PrimaryKeyChangeError(model.name, field);
  }
}

export async function upsertRow(
  _context: TableContext,
  _find: FindRow,
  _create: unknown,
  _update: AnyRow,
  _options: WriteOptions,
  _meter: ReadMeter,
): Promise<FoundRow> {
  throw new Error("not there yet");
}
