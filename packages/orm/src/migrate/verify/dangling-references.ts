import type { KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { specificationOrder } from "@keywright/core";
import { type AnyDatabase, tableContextOf } from "../../context/any-database.js";
import type { TableContext } from "../../context/table-context.js";
import type { RowId } from "../../errors/orm-error.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { pointerOf, rowKey } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { readKeys, readWithSchema } from "../../query/read/read-rows.js";
import { referencedKey } from "../../relations/referenced-key.js";
import { tableOfModel } from "../../relations/referrers.js";
import { keyIdOf } from "../../transaction/buffer/key-id.js";
import { expiryKey, keepsExpiry } from "../../write/commit/row-expiry.js";
import { maxBatchRows } from "../run/migration-run.js";
import { decodeRowCursor, encodeRowCursor } from "../run/row-cursor.js";
import { readNextRows } from "../run/scan-rows.js";

/** A reference of a row to a row that does not exist. */
export interface DanglingReference {
  readonly model: string;
  /** The primary key of the row that has the reference. */
  readonly id: RowId;
  readonly relation: string;
  /** The fields that hold the reference. */
  readonly fields: readonly string[];
  /** The model of the missing row. */
  readonly target: string;
  /** The primary key of the missing row. */
  readonly targetId: RowId;
}

/** Selects a page of dangling references and its size. */
export interface DanglingReferencesOptions {
  /**
   * The number of references at which a page ends, 100 by default. A page always contains all
   * references of its last row and may therefore be longer.
   */
  readonly take?: number | undefined;
  /** The maximum number of rows that are read for a page, 1000 by default. */
  readonly rows?: number | undefined;
  /** The `cursor` of the page before. Without it, the first page is returned. */
  readonly cursor?: string | null | undefined;
}

/** A page of dangling references. */
export interface DanglingReferencesPage {
  /** May be empty although more pages follow. */
  readonly items: readonly DanglingReference[];
  /** How many rows of the model this page covers. */
  readonly rows: number;
  /** The cursor for the next page, or null if this is the last page. */
  readonly cursor: string | null;
}

/** A `belongsTo` relation of the model. */
interface BelongsToReference {
  readonly relation: string;
  readonly fields: readonly string[];
  readonly target: TableContext;
}

/** A reference that seems to lead to no row. */
interface Suspect {
  /** The position of its row among the rows that were read together. */
  readonly position: number;
  readonly primaryKey: readonly KvKeyPart[];
  readonly reference: BelongsToReference;
  readonly targetId: readonly KvKeyPart[];
}

/** The table and primary key under which a row is expected. */
interface RowPlace {
  readonly table: TableContext;
  readonly primaryKey: readonly KvKeyPart[];
}

const defaultTake = 100;
const defaultRows = 1000;

/**
 * Returns a page of the references of a model's rows that lead to no row, ordered by the primary
 * keys of the rows. Each suspect is confirmed by a second read of the row and its target in one
 * snapshot, so that concurrent writes cause no false findings. A row of an earlier schema is
 * upgraded first. If the upgrade fails, the row is used as it is stored. An expired row counts as
 * missing.
 *
 * @throws {RangeError} if `take` or `rows` is not a positive integer.
 * @throws {InvalidCursorError} if the cursor does not come from such a page.
 */
async function listDanglingReferences(
  context: TableContext,
  { take = defaultTake, rows: maxRows = defaultRows, cursor }: DanglingReferencesOptions = {},
): Promise<DanglingReferencesPage> {
  for (const [name, value] of Object.entries({ take, rows: maxRows })) {
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
    const limit = Math.min(maxRows - rows, maxBatchRows);
    const entries = await readWithSchema(context, () => readNextRows(context, after, limit));
    let last: Suspect | undefined;
    for (const suspect of await suspectsAmong(context, references, entries)) {
      const isFull = items.length >= take;
      if (isFull && last !== undefined && last.position !== suspect.position) {
        rows += last.position + 1;
        return { items, rows, cursor: encodeRowCursor(last.primaryKey) };
      }
      const item = await recheck(context, suspect);
      if (item === undefined) continue;
      items.push(item);
      last = suspect;
    }
    rows += entries.length;
    after = entries.at(-1)?.key.slice(1) ?? after;
    if (entries.length < limit || after === null) return { items, rows, cursor: null };
    if (items.length >= take || rows >= maxRows) {
      return { items, rows, cursor: encodeRowCursor(after) };
    }
  }
}

function referencesOf({ links, tables }: TableContext): BelongsToReference[] {
  return [...links.relations.values()].flatMap(({ name, relation, target }) => {
    if (relation.kind !== "belongsTo") return [];
    return [{ relation: name, fields: relation.fields, target: tableOfModel(tables, target) }];
  });
}

/**
 * Returns the references of the rows that seem to lead to no row. Reads each target row only once.
 */
async function suspectsAmong(
  context: TableContext,
  references: readonly BelongsToReference[],
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
      // The database accepts no such key, so the row cannot exist.
      const isKey = canBeStored(key, context.limits.keyBytes);
      const id = isKey ? keyIdOf(key, specificationOrder) : undefined;
      if (id !== undefined) wanted.set(id, { table: target, primaryKey: targetId });
      found.push({ suspect: { position, primaryKey, reference, targetId }, id });
    }
  }
  const stored = await readUnexpired(context, [...wanted.values()]);
  const existing = new Set([...wanted.keys()].filter((_, i) => stored[i] !== undefined));
  return found
    .filter(({ id }) => id === undefined || !existing.has(id))
    .map(({ suspect }) => suspect);
}

/**
 * Reads the row and its target again in one snapshot. Returns undefined if the reference leads to a
 * row now, or if the row no longer has a reference.
 */
async function recheck(
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
    const [entry, targetRow] = await readUnexpired(context, places);
    const row = entry && rowOf(context, entry);
    const currentId = row && referencedKey(fields, row);
    if (currentId === undefined) return undefined;
    if (isSameKey(currentId, wanted)) {
      if (targetRow !== undefined) return undefined;
      return {
        model: context.model.name,
        id: pointerOf(primaryKey),
        relation,
        fields,
        target: target.model.name,
        targetId: pointerOf(wanted),
      };
    }
    // A concurrent write has changed the reference.
    wanted = currentId;
  }
}

/**
 * Reads rows in the order of `places`. Rows of two places are read in one snapshot. The result is
 * undefined for a row that does not exist or has expired.
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
    const hasExpired = typeof expireAt === "number" && expireAt <= now;
    const entry = entries[row];
    return hasExpired || entry?.versionstamp === null ? undefined : entry;
  });
}

/**
 * Returns the row of an entry, upgraded to the program's schema. Returns undefined if the entry
 * holds no row.
 */
function rowOf(
  { catalog }: TableContext,
  { value, versionstamp }: KvEntryMaybe<unknown>,
): AnyRow | undefined {
  if (versionstamp === null || !isObject(value)) return undefined;
  try {
    const row: unknown = catalog.snapshot.upgradeOf(versionstamp)?.(value);
    return isObject(row) ? row : value;
  } catch {
    // The row cannot be upgraded, so its stored fields are all there is.
    return value;
  }
}

function isObject(value: unknown): value is AnyRow {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns a page of the references of a model's rows, by its `belongsTo` relations, that lead to no
 * row. Such references remain if a program without this model deleted the target, if the target
 * expired, or if rows were written by hand. Nothing is written.
 *
 * ```ts
 * const { items, cursor } = await findDanglingReferences(db, { model: "posts" });
 * for (const { id, relation, targetId } of items) console.log(id, relation, targetId);
 * ```
 *
 * @throws {ModelDefinitionError} if the model does not exist.
 * @throws {RangeError} if `take` or `rows` is not a positive integer.
 * @throws {InvalidCursorError} if the cursor does not come from such a page.
 */
export async function findDanglingReferences(
  database: AnyDatabase,
  query: DanglingReferencesOptions & { readonly model: string },
): Promise<DanglingReferencesPage> {
  return await listDanglingReferences(tableContextOf(database, query.model), query);
}
