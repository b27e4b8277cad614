import type { KvKey, KvKeyPart } from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { keyAfter } from "../../model/keys/key-parts.js";
import { markedIndexName } from "../../model/options/soft-delete.js";
import type { Reference } from "../../model/relations/linked-relations.js";
import { awaitAll } from "../../promises/await-all.js";
import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import type { ModelStore } from "../context/model-store.js";
import type { RelatedStore } from "../context/table-context.js";
import { readPage } from "../rows/read-page.js";
import { namedIndex } from "../schema/named-index.js";
import { referenceIndexes } from "./reference-index.js";

/** A row that refers to another according to an index. The row itself may have changed since. */
export interface Referrer {
  readonly reference: Reference;
  readonly primaryKey: readonly KvKeyPart[];
}

/** A position in the list of the rows that refer to a row. It holds at most one batch of keys. */
export interface ReferrerCursor {
  readonly position: number;
  /** The primary keys of entries that have been read but not returned yet. */
  readonly pending: readonly (readonly KvKeyPart[])[];
  /** The key that was read last; undefined before the first read of a search. */
  readonly after: KvKey | undefined;
  /** True if the current search has no further entries after `pending`. */
  readonly isEnd: boolean;
}

export const firstReferrer: ReferrerCursor = {
  position: 0,
  pending: [],
  after: undefined,
  isEnd: false,
};

const batchSize = 64;
const firstBatchSize = 32;

/** A search for the rows that refer to a row by one reference. */
export interface ReferrerSearch {
  readonly reference: Reference;
  /** The index to read; undefined for the primary key. */
  readonly index: CompiledIndex | undefined;
  /** The catalog according to which the index is readable. */
  readonly catalog: CatalogSnapshot;
}

/**
 * Chooses the index to read for each of some references.
 *
 * @param assumes true if the caller's commit checks the catalogs, so that they need not be read.
 * @throws {IndexNotReadyError} if none of the indexes for a reference is readable.
 */
export async function beginSearches(
  tables: ReadonlyMap<string, RelatedStore>,
  references: readonly Reference[],
  assumes = false,
): Promise<ReferrerSearch[]> {
  const searches: ReferrerSearch[] = [];
  for (const reference of references) {
    const known = tableOfModel(tables, reference.model).catalog;
    const catalog = assumes ? known.assumed() : known;
    await catalog.assertSameKey();
    let search = chooseIndex(reference, catalog.snapshot);
    if (search.index !== undefined && !catalog.isReadable(search.index)) {
      await catalog.reload();
      search = chooseIndex(reference, catalog.snapshot);
      if (search.index !== undefined) await catalog.assertReadable(search.index);
    }
    searches.push(search);
  }
  return searches;
}

/**
 * Returns the searches for everything that refers to a row by a reference which is cleared, if the
 * row is removed. Marked rows have an index of their own. It is read last, so that a row is found
 * even if it is marked during the search.
 */
export function withMarkedReferrers(references: readonly Reference[]): Reference[] {
  return references.flatMap((reference) => {
    const isMarkable = reference.model.softDelete !== undefined;
    if (reference.onDelete !== "setNull" || !isMarkable) return [reference];
    return [reference, { ...reference, ofMarked: true }];
  });
}

/** Chooses the best readable index, or the best one if none is readable. */
function chooseIndex(reference: Reference, catalog: CatalogSnapshot): ReferrerSearch {
  const { fields, index, model, ofMarked } = reference;
  if (ofMarked) {
    const name = markedIndexName(model.softDelete!, fields);
    return { reference, index: namedIndex(catalog.readModel, name), catalog };
  }
  if (index === undefined) return { reference, index, catalog };
  const readable = referenceIndexes(catalog.readModel, fields).find((each) =>
    catalog.canRead(each),
  );
  return { reference, index: readable ?? index, catalog };
}

/**
 * Returns the next row that refers to a row, with the cursor after it, or undefined at the end.
 * {@link searchesWereComplete} then reports whether the searches were complete.
 */
export async function nextReferrer(
  tables: ReadonlyMap<string, RelatedStore>,
  searches: readonly ReferrerSearch[],
  primaryKey: readonly KvKeyPart[],
  cursor: ReferrerCursor,
): Promise<{ referrer: Referrer; cursor: ReferrerCursor } | undefined> {
  let current = cursor;
  for (;;) {
    const search = searches[current.position];
    if (search === undefined) return undefined;
    const { reference, index } = search;
    const [next, ...pending] = current.pending;
    if (next !== undefined) {
      return { referrer: { reference, primaryKey: next }, cursor: { ...current, pending } };
    }
    if (current.isEnd) {
      current = { ...firstReferrer, position: current.position + 1 };
      continue;
    }
    const context = tableOfModel(tables, reference.model);
    current = { ...current, ...(await listEntries(context, index, primaryKey, current.after)) };
  }
}

/**
 * Reads the first keys of all searches at the same time, and returns a cursor at the first search
 * that has found some, or at the end.
 */
export async function firstPageOfEach(
  tables: ReadonlyMap<string, RelatedStore>,
  searches: readonly ReferrerSearch[],
  primaryKey: readonly KvKeyPart[],
): Promise<ReferrerCursor> {
  const pages = await awaitAll(
    searches.map(({ reference, index }) =>
      listEntries(tableOfModel(tables, reference.model), index, primaryKey, undefined),
    ),
  );
  const found = pages.findIndex(({ pending, isEnd }) => pending.length > 0 || !isEnd);
  if (found < 0) return { ...firstReferrer, position: searches.length };
  return { position: found, ...pages[found]! };
}

/** Returns a cursor at the beginning that has read the first keys. */
export async function firstPage(
  tables: ReadonlyMap<string, RelatedStore>,
  searches: readonly ReferrerSearch[],
  primaryKey: readonly KvKeyPart[],
): Promise<ReferrerCursor> {
  const [first] = searches;
  if (first === undefined) return firstReferrer;
  const context = tableOfModel(tables, first.reference.model);
  const page = await listEntries(context, first.index, primaryKey, undefined);
  return { ...firstReferrer, ...page };
}

/**
 * Reads the next entries of an index, or of the primary key, that begin with some values.
 *
 * @param after the key after which to continue; undefined to begin.
 */
async function listEntries(
  { kv, model }: ModelStore,
  index: CompiledIndex | undefined,
  values: readonly KvKeyPart[],
  after: KvKey | undefined,
): Promise<Omit<ReferrerCursor, "position">> {
  const prefix = [index?.place ?? model.place, ...values];
  const fields = index === undefined ? model.primaryKey : index.fields;
  // If the prefix is itself a whole key, a selector by prefix would leave that key out.
  const isWholeKey = values.length === fields.length && (index === undefined || index.unique);
  if (isWholeKey && after !== undefined) return { pending: [], after, isEnd: true };
  const start = after === undefined ? {} : { start: keyAfter(after) };
  const selector = isWholeKey ? { start: prefix, end: keyAfter(prefix) } : { prefix, ...start };
  const limit = after === undefined ? firstBatchSize : batchSize;
  const reading = readPage({ kv }, selector, { limit, reverse: false, withValues: true });
  const entries = reading instanceof Promise ? await reading : reading;
  const pending: (readonly KvKeyPart[])[] = [];
  for (const entry of entries) {
    const isRow = index !== undefined || entry.keyLength === 1 + model.primaryKey.length;
    const primaryKey =
      index === undefined ? entry.key.slice(1) : primaryKeyOfEntry(model, index, entry.value);
    if (isRow && primaryKey !== undefined) pending.push(primaryKey);
  }
  return { pending, after: entries.at(-1)?.key ?? after, isEnd: entries.length < limit };
}

/**
 * True if searches that have reached their end have found every referring row. This is so if their
 * indexes were readable the whole time. A program that drops an index waits for its readers, but a
 * search may take longer than that. The catalogs are therefore read again, and must be unchanged.
 */
export async function searchesWereComplete(
  tables: ReadonlyMap<string, RelatedStore>,
  searches: readonly ReferrerSearch[],
): Promise<boolean> {
  const indexed = searches.filter(({ index }) => index !== undefined);
  const catalogOf = ({ reference }: ReferrerSearch) =>
    tableOfModel(tables, reference.model).catalog;
  await awaitAll(Array.from(new Set(indexed.map(catalogOf)), (catalog) => catalog.reload()));
  return indexed.every((search) => catalogOf(search).snapshot === search.catalog);
}

export function tableOfModel<Store>(
  tables: ReadonlyMap<string, Store>,
  model: CompiledModel,
): Store {
  const store = tables.get(model.name);
  // linkRelations guarantees that relations lead to models of the same database.
  if (store === undefined) throw new TypeError(`There is no model ${model.name}.`);
  return store;
}
