import type { KvKey, KvKeyPart } from "@keywright/core";
import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import type { TableContext } from "../context/table-context.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import type { Reference } from "../model/linked-relations.js";
import { listEntries } from "./list-entries.js";
import { referenceIndexes } from "./reference-index.js";

/** A row that, by an index, refers to another: its fields may say otherwise by now. */
export interface Referrer {
  readonly reference: Reference;
  readonly primaryKey: readonly KvKeyPart[];
}

/** Where a walk over those who refer to a row stands. It holds a few entries, whatever number there is. */
export interface ReferrerCursor {
  /** The place of the reference whose rows are looked at. */
  readonly position: number;
  /** The primary keys of those whose entries were read and who were not looked at yet. */
  readonly pending: readonly (readonly KvKeyPart[])[];
  /** The key that was read last; undefined before the first of a reference. */
  readonly after: KvKey | undefined;
  /** Nothing is behind the pending ones. */
  readonly isEnd: boolean;
}

export const firstReferrer: ReferrerCursor = {
  position: 0,
  pending: [],
  after: undefined,
  isEnd: false,
};

const batchSize = 64;
const firstBatchSize = 8;

/** By what it is looked for those who refer to a row by a reference. */
export interface ReferrerSearch {
  readonly reference: Reference;
  /** The index; undefined for the primary key. */
  readonly index: CompiledIndex | undefined;
  /** What says that the index can be read. */
  readonly catalog: CatalogSnapshot;
}

/**
 * How to look for those who refer to a row by some references.
 *
 * @throws {IndexNotReadyError} where no index by which they are found can be read.
 */
export async function beginSearches(
  tables: ReadonlyMap<string, TableContext>,
  references: readonly Reference[],
): Promise<ReferrerSearch[]> {
  const searches: ReferrerSearch[] = [];
  for (const reference of references) {
    const { catalog } = tableOfModel(tables, reference.model);
    let search = searchBy(reference, catalog.snapshot);
    if (search.index !== undefined && !catalog.isReadable(search.index)) {
      await catalog.reload();
      search = searchBy(reference, catalog.snapshot);
      if (search.index !== undefined) await catalog.assertReadable(search.index);
    }
    searches.push(search);
  }
  return searches;
}

/** The best index that can be read; the very best where none can. */
function searchBy(reference: Reference, catalog: CatalogSnapshot): ReferrerSearch {
  const { model, fields, index } = reference;
  if (index === undefined) return { reference, index, catalog };
  const readable = referenceIndexes(model, fields).find((each) => catalog.canRead(each));
  return { reference, index: readable ?? index, catalog };
}

/**
 * The next of the rows that refer to a row, and where to go on behind it. Undefined where there are no more: {@link wereAllFound}
 * says whether these are all.
 *
 * @param tables those to list the entries of.
 */
export async function nextReferrer(
  tables: ReadonlyMap<string, TableContext>,
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
    const count = current.after === undefined ? firstBatchSize : batchSize;
    const range = { index, equals: primaryKey };
    const { primaryKeys, last, isEnd } = await listEntries(context, range, current.after, count);
    current = { ...current, pending: primaryKeys, after: last ?? current.after, isEnd };
  }
}

/**
 * Whether all were found who refer to a row: what it was looked for by could be read all the while. A list may take longer than
 * whoever drops an index waits for its readers, so the catalogs are read again behind the last one.
 */
export async function wereAllFound(
  tables: ReadonlyMap<string, TableContext>,
  searches: readonly ReferrerSearch[],
): Promise<boolean> {
  const indexed = searches.filter(({ index }) => index !== undefined);
  const catalogs = new Map(
    indexed.map((search) => [search, tableOfModel(tables, search.reference.model).catalog]),
  );
  await Promise.all(Array.from(new Set(catalogs.values()), (catalog) => catalog.reload()));
  return indexed.every((search) => catalogs.get(search)?.snapshot === search.catalog);
}

/** What reading and writing a model's rows needs, among the tables of its database. */
export function tableOfModel(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
): TableContext {
  const context = tables.get(model.name);
  // Relations lead to models of the same database: linkRelations has seen to it.
  if (context === undefined) throw new TypeError(`There is no model ${model.name}.`);
  return context;
}
