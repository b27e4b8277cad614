import type { KvKeyPart } from "@keywright/core";
import type { RowId } from "../../../errors/orm-error.js";
import { InvalidArgumentError } from "../../../errors/query-errors.js";
import type { CompiledIndex } from "../../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../../model/keys/entry-value.js";
import { rowHasKey } from "../../../model/keys/expected-entries.js";
import { indexKey } from "../../../model/keys/index-entries.js";
import { keyText } from "../../../model/keys/key-text.js";
import { pointerOf, rowKey } from "../../../model/keys/primary-key.js";
import { assertArgument, positiveInteger } from "../../../model/shape.js";
import {
  type Duplicate,
  duplicateShape,
  duplicatesPrefix,
} from "../../../state/catalog/backfill-state.js";
import { withPrimaryKey } from "../../../state/catalog/other-layout.js";
import { systemValue } from "../../../state/catalog/system-value.js";
import { type AnyDatabase, tableContextOf } from "../../../state/context/any-database.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import type { Page, PageOptions } from "../../../state/context/page.js";
import { readStored } from "../../../state/rows/read-rows.js";

/** Rows that have the same value of a unique index. */
export interface DuplicateValue {
  /** The values of the index's fields, as the index stores them. */
  readonly value: readonly KvKeyPart[];
  /** The ids of the rows that have it. If one of them is in the index, it comes first. */
  readonly ids: readonly RowId[];
}

/** A page of the values that several rows have. */
export type DuplicatesPage = Page<DuplicateValue>;

/** Selects a page of duplicates. */
export interface DuplicatesQuery extends Pick<PageOptions, "cursor"> {
  /** The maximum number of rows on a page that are not in the index; 100 by default. */
  readonly take?: number | undefined;
}

const defaultTake = 100;

/**
 * Returns a page of the rows that keep a unique index from being readable, grouped by their value,
 * in the order of the keys. The rows are read again: a row that no longer has the value is left
 * out. If a value has more rows than fit on a page, it continues on the next page, which also
 * begins with the row that is in the index.
 *
 * @throws {InvalidArgumentError} if `take` is not a positive integer, or if the model does not have
 * the index.
 */
export async function findDuplicates(
  database: AnyDatabase,
  query: DuplicatesQuery & { readonly model: string; readonly index: string },
): Promise<DuplicatesPage> {
  const { take = defaultTake, cursor } = query;
  assertArgument(query.model, "take", take, positiveInteger, "findDuplicates");
  const found = await findIndex(tableContextOf(database, query.model), query.index);
  if (found === undefined) {
    throw new InvalidArgumentError(query.model, "index", `the model has no index ${query.index}`);
  }
  const { context, index } = found;
  const { kv, model } = context;
  const prefix = duplicatesPrefix(model, index.name);
  const options = cursor === null || cursor === undefined ? {} : { cursor };
  const list = kv.list<Duplicate>({ prefix }, options);
  const recorded: Duplicate[] = [];
  let nextCursor = "";
  let hasMore = false;
  for await (const entry of list) {
    hasMore = recorded.length === take;
    if (hasMore) break;
    const duplicate = systemValue(entry, duplicateShape, model.name);
    if (duplicate !== null) recorded.push(duplicate);
    nextCursor = list.cursor;
  }
  return {
    items: await groupByValue(context, index, recorded),
    cursor: hasMore ? nextCursor : null,
  };
}

interface IndexInLayout {
  /** Its model has the primary key by which the index is built. */
  readonly context: ModelStore;
  readonly index: CompiledIndex;
}

/** Returns an index of the model, or of the rows by the primary key that it is about to have. */
async function findIndex(context: ModelStore, wanted: string): Promise<IndexInLayout | undefined> {
  const { model, catalog } = context;
  const isWanted = ({ name }: CompiledIndex) => name === wanted;
  // The entries of an index may have another place since the program read the catalog.
  await catalog.reload();
  const declared = model.indexes.find(isWanted);
  if (declared !== undefined) return { context, index: declared };
  const { other, storedKey } = catalog.snapshot;
  if (other === undefined) return undefined;
  const { keyIndex } = other;
  if (isWanted(keyIndex)) {
    return { context: { ...context, model: withPrimaryKey(model, storedKey) }, index: keyIndex };
  }
  const index = other.model.indexes.find(isWanted);
  return index && { context: { ...context, model: other.model }, index };
}

/** Groups duplicates by their values, and leaves out rows that no longer have the value. */
async function groupByValue(
  context: ModelStore,
  index: CompiledIndex,
  recorded: readonly Duplicate[],
): Promise<DuplicateValue[]> {
  const { model } = context;
  const groups = new Map<string, Duplicate[]>();
  for (const duplicate of recorded) {
    const text = keyText(duplicate.value);
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [duplicate]);
    else group.push(duplicate);
  }
  const byValue = [...groups.values()];
  const values = byValue.flatMap((group) => group.slice(0, 1).map(({ value }) => value));
  const entries = await readStored(
    context,
    values.map((value) => indexKey(index, value, [])),
  );
  const owners = entries.map(({ value }) => primaryKeyOfEntry(model, index, value));
  const candidates = byValue.map((group, i) => {
    const owner = owners[i];
    return [...(owner === undefined ? [] : [owner]), ...group.map((row) => row.primaryKey)];
  });
  const rows = await readStored(
    context,
    candidates.flat().map((primaryKey) => rowKey(model, primaryKey)),
  );
  let position = 0;
  const items: DuplicateValue[] = [];
  for (const [i, value] of values.entries()) {
    const ids: RowId[] = [];
    for (const primaryKey of candidates[i] ?? []) {
      const row = rows[position++];
      const key = indexKey(index, value, []);
      if (row && rowHasKey(model, index, key, primaryKey, row)) ids.push(pointerOf(primaryKey));
    }
    if (ids.length > 1) items.push({ value, ids });
  }
  return items;
}
