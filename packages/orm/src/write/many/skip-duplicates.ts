import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { UniqueConstraintError } from "../../errors/row-errors.js";
import { indexKeys } from "../../indexes/index-entries.js";
import { keyText } from "../../indexes/key-text.js";
import { primaryKeyOf, rowKey } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { yieldToEventLoop } from "../../transaction/yield-to-event-loop.js";
import { isHookError } from "../input/row-hooks.js";
import { newRow } from "../rows/create-row.js";
import { type RowResult, writeEach } from "./write-each.js";

/** The result of a row, with its position in the data. */
export type PositionedResult = RowResult & { readonly position: number };

/** A parsed row that is not written yet. */
interface NewRow {
  readonly position: number;
  readonly row: AnyRow;
  /** Its primary key and its unique keys, as texts. */
  readonly keys: readonly string[];
}

type Insert = (context: TableContext, row: AnyRow) => Promise<FoundRow>;

/** How many rows are parsed before other work of the process gets its turn. */
const rowsPerTurn = 100;

/** True if a row was refused because another row has its primary key or a unique value. */
export function isDuplicate({ name }: CompiledModel, error: unknown): boolean {
  return error instanceof UniqueConstraintError && error.model === name && !isHookError(error);
}

/**
 * Creates rows except those whose primary key or unique values exist, as if each were created after
 * the ones before it. Rows with different keys share commits. A row that shares a key with an
 * earlier one waits for it, and is created only if the earlier one is not.
 *
 * @param insert stores a parsed row and calls the `afterCreate` hook. The model must have no
 * `beforeCreate` hook, which would have to run in the order of the rows.
 * @returns the results of the rows that were created or have failed, in the order of the data.
 */
export async function createWithoutDuplicates(
  context: TableContext,
  data: readonly unknown[],
  insert: Insert,
): Promise<PositionedResult[]> {
  const results: PositionedResult[] = [];
  let pending: readonly NewRow[] = await parseRows(context, data, results);
  const taken = new Set<string>();
  while (pending.length > 0) {
    const { now, later } = firstOfEachKey(pending);
    const write = (within: TableContext, { row }: NewRow) => insert(within, row);
    const outcomes = await writeEach(context, { items: now, write });
    for (const [i, result] of outcomes.entries()) {
      const { position, keys } = now[i]!;
      if (result.ok) for (const key of keys) taken.add(key);
      else if (isDuplicate(context.model, result.error)) {
        // Rows that wait for this one need not find out for themselves that the key is taken.
        const key = conflictingKey(context, result.error as UniqueConstraintError);
        if (key !== undefined) taken.add(key);
        continue;
      }
      results.push({ ...result, position });
    }
    pending = later.filter(({ keys }) => !keys.some((key) => taken.has(key)));
  }
  return results.sort((a, b) => a.position - b.position);
}

/** Returns the rows that fit the schema. Adds the results of the others. */
async function parseRows(
  context: TableContext,
  data: readonly unknown[],
  results: PositionedResult[],
): Promise<NewRow[]> {
  const rows: NewRow[] = [];
  for (let from = 0; from < data.length; from += rowsPerTurn) {
    if (from > 0) await yieldToEventLoop();
    const group = data.slice(from, from + rowsPerTurn);
    const outcomes = await Promise.allSettled(group.map((row) => newRow(context, row)));
    for (const [i, outcome] of outcomes.entries()) {
      const position = from + i;
      if (outcome.status === "fulfilled") {
        const row = outcome.value;
        rows.push({ position, row, keys: uniqueKeysOf(context, row) });
      } else results.push({ ok: false, error: outcome.reason, position });
    }
  }
  return rows;
}

/** Returns what identifies a row: its primary key, and its keys in unique indexes. */
function uniqueKeysOf({ model, catalog }: TableContext, row: AnyRow): string[] {
  try {
    const primaryKey = primaryKeyOf(model, row);
    const unique = catalog.snapshot.maintained.filter((index) => index.unique);
    const keys = unique.flatMap((index) => indexKeys(model, index, row, primaryKey));
    return [rowKey(model, primaryKey), ...keys].map(keyText);
  } catch {
    // The write reports what is wrong, such as a value that no key can hold.
    return [];
  }
}

/** Returns the key because of which a row was refused. */
function conflictingKey(
  { model, catalog }: TableContext,
  { index: name, value }: UniqueConstraintError,
): string | undefined {
  if (name === "primaryKey") return keyText(rowKey(model, value));
  const indexes = catalog.snapshot.maintained.filter((index) => index.name === name);
  // While an index is replaced, two have its name, and the error does not say which one it is.
  return indexes.length === 1 ? keyText([indexes[0]!.place, ...value]) : undefined;
}

/** Divides rows into the first ones with each of their keys, and those that share a key. */
function firstOfEachKey(rows: readonly NewRow[]): {
  readonly now: readonly NewRow[];
  readonly later: readonly NewRow[];
} {
  const seen = new Set<string>();
  const now: NewRow[] = [];
  const later: NewRow[] = [];
  for (const row of rows) {
    const list = row.keys.some((key) => seen.has(key)) ? later : now;
    list.push(row);
    // Also keys of a row that waits: rows after it must wait for it.
    for (const key of row.keys) seen.add(key);
  }
  return { now, later };
}
