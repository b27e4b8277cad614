import type { KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { specificationOrder } from "@keywright/core";
import { type AnyDatabase, tableContextOf } from "../../context/any-database.js";
import type { TableContext } from "../../context/table-context.js";
import type { RowId } from "../../errors/orm-error.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { pointerOf, rowKey } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { readHeld, readKeys } from "../../query/read/read-rows.js";
import { referencedKey } from "../../relations/referenced-key.js";
import { tableOfModel } from "../../relations/referrers.js";
import { keyIdOf } from "../../transaction/key-id.js";
import { expiryKey, keepsExpiry } from "../../write/commit/row-expiry.js";
import { maxBatchRows } from "../run/migration-run.js";
import { decodeRowCursor, encodeRowCursor } from "../run/row-cursor.js";
import { nextRows } from "../run/scan-rows.js";

/** A reference of a row to one that is not there. */
export interface DanglingReference {
  readonly model: string;
  /** The primary key of the row that has the reference. */
  readonly id: RowId;
  readonly relation: string;
  /** The fields that hold it. */
  readonly fields: readonly string[];
  /** The model of the row that is not there. */
  readonly target: string;
  /** The primary key of the row that is not there. */
  readonly targetId: RowId;
}

/** Which page of dangling references, and how long it is. */
export interface DanglingReferencesOptions {
  /** A page ends behind the row with which it has so many, all of that row's among them; 100 without it. */
  readonly take?: number | undefined;
  /** So many rows of the model are read for a page at the most, whatever is found in them; 1000 without it. */
  readonly rows?: number | undefined;
  /** That of the page before. */
  readonly cursor?: string | null | undefined;
}

/** A page of dangling references. */
export interface DanglingReferencesPage {
  /** There may be none on a page that is not the last one. */
  readonly items: readonly DanglingReference[];
  /** How many rows of the model the page is about. */
  readonly rows: number;
  /** Of the next page; null behind the last one. */
  readonly cursor: string | null;
}

/** A `belongsTo` relation of the model. */
interface OwnReference {
  readonly relation: string;
  readonly fields: readonly string[];
  readonly target: TableContext;
}

/** A reference that leads to nothing, as it looks. */
interface Suspect {
  /** The place of its row among those that were read. */
  readonly position: number;
  readonly primaryKey: readonly KvKeyPart[];
  readonly reference: OwnReference;
  readonly targetId: readonly KvKeyPart[];
}

/** Where a row is, or should be. */
interface RowPlace {
  readonly table: TableContext;
  readonly primaryKey: readonly KvKeyPart[];
}

const defaultTake = 100;
const defaultRows = 1000;

/**
 * A page of the references of a model's rows that lead to no row, in the order of the rows' primary keys. What looks like one
 * is looked at once more, the row and the one that it refers to as they are at one time, so that a writer between two reads is
 * no finding. A row of an earlier schema counts as what it becomes, and as it is where it cannot become one of the program's.
 * A row whose time is over is not there.
 *
 * @throws {RangeError} for a `take` or `rows` that is no positive integer.
 * @throws {InvalidCursorError} for what is no cursor of such a page.
 */
async function listDanglingReferences(
  context: TableContext,
  { take = defaultTake, rows: mostRows = defaultRows, cursor }: DanglingReferencesOptions = {},
): Promise<DanglingReferencesPage> {
  for (const [name, value] of Object.entries({ take, rows: mostRows })) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new RangeError(`${name} is a positive integer, not ${value}.`);
  }
  let after = cursor ? decodeRowCursor(context.model, cursor) : null;
  const references = referencesOf(context);
  const items: DanglingReference[] = [];
  let rows = 0;
  if (references.length === 0) return { items, rows, cursor: null };
  const tables = new Set([context, ...references.map(({ target }) => target)]);
  await Promise.all(Array.from(tables, ({ catalog }) => catalog.reload()));
  for (;;) {
    const limit = Math.min(mostRows - rows, maxBatchRows);
    const entries = await readHeld(context, () => nextRows(context, after, limit));
    let last: Suspect | undefined;
    for (const suspect of await suspectsAmong(context, references, entries)) {
      const isFull = items.length >= take;
      if (isFull && last !== undefined && last.position !== suspect.position) {
        rows += last.position + 1;
        return { items, rows, cursor: encodeRowCursor(last.primaryKey) };
      }
      const item = await lookAgain(context, suspect);
      if (item === undefined) continue;
      items.push(item);
      last = suspect;
    }
    rows += entries.length;
    after = entries.at(-1)?.key.slice(1) ?? after;
    if (entries.length < limit || after === null) return { items, rows, cursor: null };
    if (items.length >= take || rows >= mostRows) {
      return { items, rows, cursor: encodeRowCursor(after) };
    }
  }
}

function referencesOf({ links, tables }: TableContext): OwnReference[] {
  return [...links.relations.values()].flatMap(({ name, relation, target }) => {
    if (relation.kind !== "belongsTo") return [];
    return [{ relation: name, fields: relation.fields, target: tableOfModel(tables, target) }];
  });
}

/** The references of some rows that look as if they lead to nothing. Each row that is referred to is read once. */
async function suspectsAmong(
  context: TableContext,
  references: readonly OwnReference[],
  entries: readonly (KvEntryMaybe<unknown> & { readonly key: KvKey })[],
): Promise<Suspect[]> {
  const wanted = new Map<string, RowPlace>();
  const found: { suspect: Suspect; id: string | undefined }[] = [];
  for (const [position, entry] of entries.entries()) {
    const primaryKey = entry.key.slice(1);
    if (primaryKey.length !== context.model.primaryKey.length) continue;
    const row = rowOf(context, entry);
    for (const reference of references) {
      const { fields, target } = reference;
      const targetId = row && referencedKey(fields, row);
      if (targetId === undefined) continue;
      const key = rowKey(target.model, targetId);
      // No row is under a key that the database does not take.
      const isKey = canBeStored(key, context.limits.keyBytes);
      const id = isKey ? keyIdOf(key, specificationOrder) : undefined;
      if (id !== undefined) wanted.set(id, { table: target, primaryKey: targetId });
      found.push({ suspect: { position, primaryKey, reference, targetId }, id });
    }
  }
  const stored = await readUnexpired(context, [...wanted.values()]);
  const there = new Set([...wanted.keys()].filter((_, i) => stored[i] !== undefined));
  return found.filter(({ id }) => id === undefined || !there.has(id)).map(({ suspect }) => suspect);
}

/** Reads the row and the one that it refers to again, together; undefined where the row's reference leads to a row, or is none. */
async function lookAgain(
  context: TableContext,
  { primaryKey, reference, targetId }: Suspect,
): Promise<DanglingReference | undefined> {
  const { relation, fields, target } = reference;
  let wanted = targetId;
  for (;;) {
    const places = [
      { table: context, primaryKey },
      { table: target, primaryKey: wanted },
    ];
    const [entry, there] = await readUnexpired(context, places);
    const row = entry && rowOf(context, entry);
    const now = row && referencedKey(fields, row);
    if (now === undefined) return undefined;
    if (isSameKey(now, wanted)) {
      if (there !== undefined) return undefined;
      return {
        model: context.model.name,
        id: pointerOf(primaryKey),
        relation,
        fields,
        target: target.model.name,
        targetId: pointerOf(wanted),
      };
    }
    // It was written meanwhile, and refers to another row.
    wanted = now;
  }
}

/**
 * Reads rows, those of two places in one read; undefined for each that is not there or whose time is over.
 */
async function readUnexpired(
  context: TableContext,
  places: readonly RowPlace[],
): Promise<(KvEntryMaybe<unknown> | undefined)[]> {
  const keys: KvKey[] = [];
  const add = (key: KvKey) => (canBeStored(key, context.limits.keyBytes) ? keys.push(key) - 1 : -1);
  const positions = places.map(({ table, primaryKey }) => ({
    row: add(rowKey(table.model, primaryKey)),
    expiry: keepsExpiry(table, table.catalog.snapshot)
      ? add(expiryKey(table.model, primaryKey))
      : -1,
  }));
  const entries = await readKeys(context, keys);
  const now = Date.now();
  return positions.map(({ row, expiry }) => {
    const expireAt = entries[expiry]?.value;
    const isOver = typeof expireAt === "number" && expireAt <= now;
    const entry = entries[row];
    return isOver || entry?.versionstamp === null ? undefined : entry;
  });
}

/** The row that an entry holds, as the program has it; undefined for what is no row. */
function rowOf(
  { catalog }: TableContext,
  { value, versionstamp }: KvEntryMaybe<unknown>,
): AnyRow | undefined {
  if (versionstamp === null || !isObject(value)) return undefined;
  try {
    const row: unknown = catalog.snapshot.upgradeOf(versionstamp)?.(value);
    return isObject(row) ? row : value;
  } catch {
    // It cannot be made one of the program's: its fields are what there is.
    return value;
  }
}

function isObject(value: unknown): value is AnyRow {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The references of a model's rows, by its `belongsTo` relations, that lead to no row, page by page: as after a row was deleted
 * by a program without the model that refers to it, or went by its `expireIn`, and where rows were written by hand. Nothing is
 * written.
 *
 * ```ts
 * const { items, cursor } = await findDanglingReferences(db, { model: "posts" });
 * for (const { id, relation, targetId } of items) console.log(id, relation, targetId);
 * ```
 *
 * @throws {ModelDefinitionError} for a model that there is not.
 * @throws {RangeError} for a `take` or `rows` that is no positive integer.
 * @throws {InvalidCursorError} for what is no cursor of such a page.
 */
export async function findDanglingReferences(
  database: AnyDatabase,
  query: DanglingReferencesOptions & { readonly model: string },
): Promise<DanglingReferencesPage> {
  return await listDanglingReferences(tableContextOf(database, query.model), query);
}
