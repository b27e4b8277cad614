import { type KvEntryMaybe, type KvKey, type KvKeyPart, specificationOrder } from "@keywright/core";
import { expiryKey, keepsExpiry } from "../../derived/expiry/row-expiry.js";
import type { RowId } from "../../errors/orm-error.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { canBeStored } from "../../model/keys/can-be-stored.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { pointerOf, rowKey } from "../../model/keys/primary-key.js";
import { isMarked } from "../../model/options/soft-delete.js";
import { isRow } from "../../model/rows/stored-row.js";
import { assertArgument, positiveInteger } from "../../model/shape.js";
import { awaitAll } from "../../promises/await-all.js";
import { type AnyDatabase, tableContextOf } from "../../state/context/any-database.js";
import type { Page, PageOptions } from "../../state/context/page.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { referencedKey } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import { readKeys, readWithSchema } from "../../state/rows/read-rows.js";
import { maxBatchRows } from "../../state/run/migration-run.js";
import { readEntriesAfter } from "../../state/run/read-entries-after.js";
import { decodeRowCursor, encodeRowCursor } from "../../state/run/row-cursor.js";
import { keyIdOf } from "../../state/transaction/buffer/key-id.js";

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
export interface DanglingReferencesOptions extends Pick<PageOptions, "cursor"> {
  /**
   * The number of references at which a page ends, 100 by default. A page always contains all
   * references of its last row and may therefore be longer.
   */
  readonly take?: number | undefined;
  /** The maximum number of rows that are read for a page, 1000 by default. */
  readonly rows?: number | undefined;
}

/** A page of dangling references. It may be empty although more pages follow. */
export interface DanglingReferencesPage extends Page<DanglingReference> {
  /** How many rows of the model this page covers. */
  readonly rows: number;
}

/** A `belongsTo` relation of a model, and the rows to which it refers. */
export interface BelongsToReference {
  readonly relation: string;
  readonly fields: readonly string[];
  readonly target: TableContext;
}

interface Suspect {
  /** The position of its row among the rows that were read together. */
  readonly position: number;
  readonly primaryKey: readonly KvKeyPart[];
  readonly reference: BelongsToReference;
  readonly targetId: readonly KvKeyPart[];
}

interface RowPlace {
  readonly table: TableContext;
  readonly primaryKey: readonly KvKeyPart[];
}

const defaultTake = 100;
const defaultRows = 1000;

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
 * The order is that of the primary keys. Each suspect is confirmed by a second read of the row and
 * its target in one snapshot, so that concurrent writes cause no false findings. A row of an
 * earlier schema is upgraded first, or used as it is stored if the upgrade fails.
 *
 * @throws {ModelDefinitionError} if the model does not exist.
 * @throws {InvalidArgumentError} if `take` or `rows` is not a positive integer.
 * @throws {InvalidCursorError} if the cursor does not come from such a page.
 */
export async function findDanglingReferences(
  database: AnyDatabase,
  query: DanglingReferencesOptions & { readonly model: string },
): Promise<DanglingReferencesPage> {
  const { take = defaultTake, rows: maxRows = defaultRows } = query;
  const context = tableContextOf(database, query.model);
  for (const [name, value] of Object.entries({ take, rows: maxRows })) {
    assertArgument(query.model, name, value, positiveInteger, "findDanglingReferences");
  }
  return await danglingReferencesAmong(context, referencesOf(context), query);
}

/** Returns a page of those of a model's references that lead to no row. */
export async function danglingReferencesAmong(
  context: TableContext,
  references: readonly BelongsToReference[],
  { take = defaultTake, rows: maxRows = defaultRows, cursor }: DanglingReferencesOptions,
): Promise<DanglingReferencesPage> {
  let after = cursor ? decodeRowCursor(context.model, cursor) : null;
  const prefix = [context.model.place];
  const items: DanglingReference[] = [];
  let rows = 0;
  if (references.length === 0) return { items, rows, cursor: null };
  const tables = new Set([context, ...references.map(({ target }) => target)]);
  await awaitAll(Array.from(tables, ({ catalog }) => catalog.reload()));
  for (const { catalog } of tables) catalog.snapshot.assertSameKey();
  for (;;) {
    const limit = Math.min(maxRows - rows, maxBatchRows);
    const entries = await readWithSchema(viewOf(context), () =>
      readEntriesAfter<AnyRow>(context, prefix, after && [...prefix, ...after], limit),
    );
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

export function referencesOf({ links, tables }: TableContext): BelongsToReference[] {
  return [...links.relations.values()].flatMap(({ name, relation, target }) => {
    if (relation.kind !== "belongsTo") return [];
    return [{ relation: name, fields: relation.fields, target: tableOfModel(tables, target) }];
  });
}

/** Reads each target row only once. */
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

/** Reads both rows again in one snapshot. Undefined if the reference leads to a row now. */
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

/** Rows of two places are read in one snapshot. Undefined for a row that has expired. */
async function readUnexpired(
  context: TableContext,
  places: readonly RowPlace[],
): Promise<(KvEntryMaybe<unknown> | undefined)[]> {
  const keys: KvKey[] = [];
  const add = (key: KvKey) => (canBeStored(key, context.limits.keyBytes) ? keys.push(key) - 1 : -1);
  const positions = places.map(({ table, primaryKey }) => ({
    row: add(rowKey(table.model, primaryKey)),
    expiry: keepsExpiry(viewOf(table)) ? add(expiryKey(table.model, primaryKey)) : -1,
  }));
  const entries = await readKeys(viewOf(context), keys);
  const now = Date.now();
  return positions.map(({ row, expiry }) => {
    const expireAt = entries[expiry]?.value;
    const hasExpired = typeof expireAt === "number" && expireAt <= now;
    const entry = entries[row];
    return hasExpired || entry?.versionstamp === null ? undefined : entry;
  });
}

/**
 * Returns the row, upgraded to the program's schema. Undefined if the entry holds no row, or one
 * that is marked as deleted, whose references do not count.
 */
function rowOf(context: TableContext, entry: KvEntryMaybe<unknown>): AnyRow | undefined {
  const row = upgradedRow(context, entry);
  return row === undefined || isMarked(context.model, row) ? undefined : row;
}

function upgradedRow(
  { catalog }: TableContext,
  { value, versionstamp }: KvEntryMaybe<unknown>,
): AnyRow | undefined {
  if (versionstamp === null || !isRow(value)) return undefined;
  try {
    const row: unknown = catalog.snapshot.upgradeOf(versionstamp)?.(value);
    return isRow(row) ? row : value;
  } catch {
    // The row cannot be upgraded, so its stored fields are all there is.
    return value;
  }
}
