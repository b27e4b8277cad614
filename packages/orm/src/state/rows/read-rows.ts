import type { KvEntryMaybe, KvKey, KvKeyPart, MaybePromise } from "@keywright/core";
import { failureReason } from "../../errors/failure-reason.js";
import { MigrationMissingError, RowUpgradeError } from "../../errors/migration-errors.js";
import { StoredRowInvalidError } from "../../errors/row-errors.js";
import { StaleSchemaError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { pointerOf, rowKey } from "../../model/keys/primary-key.js";
import { isMarked } from "../../model/options/soft-delete.js";
import { assertStoredRow, isRow } from "../../model/rows/stored-row.js";
import { storedTime } from "../../model/rows/time.js";
import { awaitAll } from "../../promises/await-all.js";
import type { FoundRow } from "../context/any-query.js";
import type { ReadView } from "../context/read-view.js";
import { isInScope } from "../context/scope.js";

export async function readRows(
  view: ReadView,
  primaryKeys: readonly (readonly KvKeyPart[])[],
): Promise<KvEntryMaybe<AnyRow>[]> {
  const keys: KvKey[] = [];
  for (const primaryKey of primaryKeys) keys.push(rowKey(view.model, primaryKey));
  return (await readKeys(view, keys)) as KvEntryMaybe<AnyRow>[];
}

export async function readKeys(
  view: ReadView,
  keys: readonly KvKey[],
): Promise<KvEntryMaybe<unknown>[]> {
  return await readWithSchema(view, () => readStored(view, keys));
}

/** An entry of which only the key is not used. */
export interface StoredValue {
  readonly value: unknown;
  readonly versionstamp: string;
  readonly expireAt?: number | undefined;
}

type Versioned = { readonly versionstamp: string | null } | undefined;

/**
 * Reads entries. Reads them again if the catalog that tells their schema has changed. Returns them
 * without a promise if `read` does, and if the catalog does not have to be read.
 *
 * @throws {PrimaryKeyDiffersError} if the rows have moved to another primary key.
 */
export function readWithSchema<E extends Versioned>(
  view: ReadView,
  read: () => MaybePromise<E[]>,
): MaybePromise<E[]> {
  if (!view.isChecked) return view.refresh().then(() => readWithSchema(view, read));
  const entries = read();
  if (entries instanceof Promise) return readUntilDetermined(view, read, entries);
  const isDetermined = view.determinesSchema(entries);
  if (isDetermined === true) return entries;
  return Promise.resolve(isDetermined).then((isKnown) =>
    isKnown ? entries : view.refresh().then(() => readUntilDetermined(view, read, read())),
  );
}

/** @param first the entries that were read first. */
async function readUntilDetermined<E extends Versioned>(
  view: ReadView,
  read: () => MaybePromise<E[]>,
  first: MaybePromise<E[]>,
): Promise<E[]> {
  for (let reading = first; ; reading = read()) {
    const entries = await reading;
    if (await view.determinesSchema(entries)) return entries;
    await view.refresh();
  }
}

/** Reads entries as they are stored, in the order of the keys, in as few calls as possible. */
export async function readStored(
  { kv, limits }: Pick<ReadView, "kv" | "limits">,
  keys: readonly KvKey[],
): Promise<KvEntryMaybe<unknown>[]> {
  if (keys.length === 1 && keys[0] !== undefined) return [await kv.get(keys[0])];
  if (keys.length <= limits.keys) return keys.length === 0 ? [] : await kv.getMany<unknown[]>(keys);
  const reads: Promise<KvEntryMaybe<unknown>[]>[] = [];
  for (let from = 0; from < keys.length; from += limits.keys) {
    reads.push(kv.getMany<unknown[]>(keys.slice(from, from + limits.keys)));
  }
  return (await awaitAll(reads)).flat();
}

/** Entries and the row to which they lead, from one snapshot. */
interface LinkedRow {
  readonly entries: readonly KvEntryMaybe<unknown>[];
  /** Undefined if they lead to none. */
  readonly linked: LinkedTo | undefined;
}

interface LinkedTo {
  readonly primaryKey: readonly KvKeyPart[];
  readonly row: KvEntryMaybe<unknown>;
}

/**
 * Reads entries and the row to which they lead in one snapshot. Reads them again until they lead to
 * the same row.
 *
 * @param read reads keys in one snapshot.
 * @param model that of the row.
 * @param leadsTo returns the primary key of the row. Undefined if the entries lead to none.
 */
export async function readLinkedRow(
  read: (keys: readonly KvKey[]) => Promise<readonly KvEntryMaybe<unknown>[]>,
  keys: readonly KvKey[],
  model: CompiledModel,
  leadsTo: (entries: readonly KvEntryMaybe<unknown>[]) => readonly KvKeyPart[] | undefined,
): Promise<LinkedRow> {
  for (let before: readonly KvKeyPart[] | undefined; ; ) {
    const all = await read(before === undefined ? keys : [...keys, rowKey(model, before)]);
    const entries = all.slice(0, keys.length);
    const primaryKey = leadsTo(entries);
    if (primaryKey === undefined) return { entries, linked: undefined };
    const row = all[keys.length];
    if (row !== undefined && before !== undefined && isSameKey(before, primaryKey))
      return { entries, linked: { primaryKey, row } };
    before = primaryKey;
  }
}

/**
 * Returns the row that is stored under a key. Undefined if there is none, if the row is outside of
 * the scope of the view, or if it is marked as deleted and the view does not read such rows.
 * Every read of a row goes through here, except those of index entries that have only rows of the
 * scope and no marked rows.
 *
 * @param orAsStored true to return a row as it is stored if it cannot be upgraded. For a stored
 * value that is not a row, a row with only the primary key is returned.
 */
export function foundRow(
  view: ReadView,
  primaryKey: readonly KvKeyPart[],
  entry: KvEntryMaybe<unknown>,
  orAsStored = false,
): FoundRow | undefined {
  if (entry.versionstamp === null) return undefined;
  const found = storedRow(view, primaryKey, entry, orAsStored);
  return isVisible(view, found.row) ? found : undefined;
}

/** True if the view sees a row: it is within its scope, and not marked as deleted. */
export function isVisible(view: ReadView, row: AnyRow): boolean {
  const { model, withDeleted, scope } = view;
  if (scope !== undefined && !isInScope(view, row)) return false;
  return model.softDelete === undefined || withDeleted === true || !isMarked(model, row);
}

/** Returns the row that is stored, even if the view does not see it. */
export function storedRow(
  view: ReadView,
  primaryKey: readonly KvKeyPart[],
  entry: StoredValue,
  orAsStored = false,
): FoundRow {
  const { value, versionstamp } = entry;
  const expireAt = entry.expireAt === undefined ? undefined : storedTime(entry.expireAt);
  if (orAsStored && !isRow(value)) {
    const keyFields = view.model.primaryKey.map((field, i) => [field, primaryKey[i]] as const);
    // Such a value has no other fields and no index entries.
    return {
      primaryKey,
      row: Object.fromEntries(keyFields),
      stored: {},
      versionstamp,
      expireAt,
    };
  }
  const { snapshot } = view;
  const upgrade = snapshot.upgradesRows ? snapshot.upgradeOf(versionstamp) : undefined;
  if (upgrade === undefined) {
    if (view.settings.validateReads || !isRow(value)) assertRow(view, value, primaryKey);
    return { primaryKey, row: value as AnyRow, versionstamp, expireAt };
  }
  const stored = value as AnyRow;
  let row = stored;
  try {
    row = upgradeRow(view, value, primaryKey, upgrade);
  } catch (error) {
    const isUpgradeError = error instanceof RowUpgradeError || isUnfit(error);
    // A row that is only marked is stored again, so it must have the program's schema.
    const isMarkable = view.model.softDelete !== undefined && !view.purges;
    if (!orAsStored || !isUpgradeError || isMarkable) throw error;
  }
  return { primaryKey, row, stored, versionstamp, expireAt };
}

function upgradeRow(
  view: ReadView,
  value: unknown,
  primaryKey: readonly KvKeyPart[],
  upgrade: (row: AnyRow) => AnyRow,
): AnyRow {
  const { model } = view;
  assertObject(model, value, primaryKey);
  let row: AnyRow;
  try {
    row = upgrade(value);
  } catch (error) {
    if (isUnfit(error)) throw error;
    throw new RowUpgradeError(model.name, pointerOf(primaryKey), failureReason(error), error);
  }
  assertRow(view, row, primaryKey);
  return row;
}

/** True if an error says that a row of another schema does not fit that of the program. */
function isUnfit(error: unknown): boolean {
  return error instanceof MigrationMissingError || error instanceof StaleSchemaError;
}

/** Checks that a value is a row. With `validateReads`, also validates it. */
export function assertRow(
  { model, settings }: ReadView,
  value: unknown,
  primaryKey: readonly KvKeyPart[],
): asserts value is AnyRow {
  if (settings.validateReads) assertStoredRow(model, value, primaryKey);
  assertObject(model, value, primaryKey);
}

function assertObject(
  model: CompiledModel,
  value: unknown,
  primaryKey: readonly KvKeyPart[],
): asserts value is AnyRow {
  if (isRow(value)) return;
  throw new StoredRowInvalidError(model.name, pointerOf(primaryKey));
}
