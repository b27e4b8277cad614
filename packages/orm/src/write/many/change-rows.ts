import type { KvKeyPart } from "@keywright/core";
import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import { copyOfData } from "../../context/copy-of-data.js";
import { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { InvalidArgumentError, InvalidQueryError } from "../../errors/query-errors.js";
import { RowNotFoundError } from "../../errors/row-errors.js";
import { keyText } from "../../indexes/key-text.js";
import { pointerOf } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { scanRows, streamRows } from "../../query/read/find-rows.js";
import { findByPrimaryKey } from "../../query/read/find-unique.js";
import { deleteRow } from "../cascade/delete-row.js";
import { unexpired } from "../commit/row-expiry.js";
import type { WriteOptions } from "../input/write-options.js";
import type { FindRow } from "../rows/find-row.js";
import { runAtomically, stamped } from "../rows/run-atomically.js";
import { updateRow } from "../rows/update-row.js";
import type { RowResult } from "./row-result.js";
import { isScan, type Matches, matcherOf } from "./still-matches.js";
import { writeEach } from "./write-each.js";

/** How many rows are written. */
export interface ManyOptions extends WriteOptions {
  /** All in one commit, or none. */
  readonly atomic?: boolean;
}

type PrimaryKey = readonly KvKeyPart[];

/** Writes a row that `find` finds, where it still is what the query asks for. */
type WriteFound = (
  context: TableContext,
  find: FindRow,
  primaryKey: PrimaryKey,
  meter: ReadMeter,
) => Promise<FoundRow>;

/**
 * Changes the rows of a query. They are found first, and held by their primary keys; then each of them is changed once,
 * if it still is what the query asks for, whatever the change does to its place in the index. With `atomic` all of it is
 * one commit, or all or nothing within the caller's transaction; without it, a commit has some hundred rows,
 * and a row that fails does not keep the others from being changed.
 *
 * @returns what has become of each row, in the order of the query; rows that are gone meanwhile are left out. What a hook
 * after the write of one threw stands beside the row: it is written all the same.
 * @throws {InvalidQueryError} for a query without a condition.
 * @throws {ReadLimitError} where the query reads more than it may; nothing is written.
 * @throws {LimitExceededError} where `atomic` asks for more than one commit takes. Nothing is written.
 * @throws what `updateRow` throws for the first row that fails, where `atomic` is asked for.
 * @throws what is the fault of the call and not of a row. Rows of commits before it stay written.
 */
export async function updateRows(
  context: TableContext,
  query: AnyQuery,
  data: AnyRow,
  options: ManyOptions,
  meter: ReadMeter,
): Promise<RowResult[]> {
  const { expireIn } = options;
  const rowOptions = expireIn === undefined ? {} : { expireIn };
  // What is written is what the caller handed over, whatever becomes of the object meanwhile.
  const patch = copyOfData(context.model, data);
  return await changeRows(context, query, options, meter, {
    isAlone: false,
    write: (within, find, primaryKey, own) =>
      updateRow(within, find, pointerOf(primaryKey), patch, rowOptions, own),
  });
}

/**
 * Deletes the rows of a query, as {@link updateRows} changes them. A row that another refers to, and must not be deleted for
 * it, is one that fails. Where others refer to the model's rows, each row is deleted on its own with those that go with it.
 *
 * @throws as {@link updateRows} does.
 */
export async function deleteRows(
  context: TableContext,
  query: AnyQuery,
  options: ManyOptions,
  meter: ReadMeter,
): Promise<RowResult[]> {
  const isReferredTo = context.links.referencedBy.length > 0;
  return await changeRows(context, query, options, meter, {
    isAlone: isReferredTo,
    write: async (within, find, primaryKey, own) => {
      const remove = (inner: TableContext) =>
        deleteRow(inner, find, pointerOf(primaryKey), {}, own);
      // What goes with a row that then cannot be deleted has to stay.
      return isReferredTo && within.transaction !== undefined
        ? await runAtomically(within, remove)
        : await remove(within);
    },
  });
}

async function changeRows(
  context: TableContext,
  query: AnyQuery,
  options: ManyOptions,
  meter: ReadMeter,
  change: { readonly isAlone: boolean; readonly write: WriteFound },
): Promise<RowResult[]> {
  const { model } = context;
  if (options.ifVersion !== undefined) {
    throw new InvalidArgumentError(model.name, "ifVersion", "many rows have no version in common");
  }
  assertCondition(context, query);
  // The limit is one of finding the rows: it must not stop a call in the middle of its writes.
  const own = new ReadMeter(model.name, Number.POSITIVE_INFINITY);
  const matches = await matcherOf(context, query);
  const write = (within: TableContext, primaryKey: PrimaryKey) =>
    writeIfStill(within, matches, primaryKey, own, change.write);
  const results = options.atomic
    ? await changeAtomically(context, query, meter, write)
    : await writeEach(context, {
        items: await findKeys(context, query, meter),
        isAlone: change.isAlone,
        write,
        idOf: pointerOf,
      });
  meter.reads += own.reads;
  return results;
}

async function changeAtomically(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
  write: (within: TableContext, primaryKey: PrimaryKey) => Promise<FoundRow | undefined>,
): Promise<RowResult[]> {
  const readsBefore = meter.reads;
  let rows: FoundRow[] = [];
  const body = async (within: TableContext) => {
    rows = [];
    meter.reads = readsBefore;
    for (const primaryKey of await findKeys(within, query, meter)) {
      const row = await write(within, primaryKey);
      if (row !== undefined) rows.push(row);
    }
  };
  const onCommit = (versionstamp: string | null) => {
    rows = rows.map((row) => stamped(row, versionstamp));
  };
  await runAtomically(context, body, onCommit);
  return rows.map((row) => ({ ok: true, row }));
}

/** The primary keys of a query's rows, each of them once. */
async function findKeys(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<PrimaryKey[]> {
  const { select: _, include: __, withVersionstamp: ___, ...rows } = query;
  const found = (isScan(query) ? scanRows : streamRows)(context, rows, meter);
  const keys = new Map<string, PrimaryKey>();
  for await (const { primaryKey } of found) {
    keys.set(keyText(primaryKey), primaryKey);
  }
  return [...keys.values()];
}

async function writeIfStill(
  context: TableContext,
  matches: Matches,
  primaryKey: PrimaryKey,
  meter: ReadMeter,
  write: WriteFound,
): Promise<FoundRow | undefined> {
  let isGone = false;
  const find = async (): Promise<FoundRow | undefined> => {
    const stored = await findByPrimaryKey(context, primaryKey, meter);
    const found = await unexpired(context, context.catalog.snapshot, stored);
    isGone = found === undefined || !matches(found);
    return isGone ? undefined : found;
  };
  try {
    return await write(context, find, primaryKey, meter);
  } catch (error) {
    if (isGone && error instanceof RowNotFoundError) return undefined;
    throw error;
  }
}

/** @throws {InvalidQueryError} for a query that would change every row: that has to be said, by a filter that takes all. */
function assertCondition({ model }: TableContext, query: AnyQuery): void {
  if (hasConditions(query) || query.filter !== undefined) return;
  const reason = "it has no condition: to take every row, say so by filter: () => true";
  throw new InvalidQueryError(model.name, "where", reason);
}

function hasConditions({ where, index }: AnyQuery): boolean {
  if (index !== undefined) return true;
  return Object.values(where ?? {}).some((condition) => condition !== undefined);
}
