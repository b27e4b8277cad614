import { isDeepStrictEqual } from "node:util";
import type { AtomicCheck, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { type Duplicate, duplicateKey } from "../../catalog/backfill-state.js";
import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import { primaryKeyOfEntry } from "../../indexes/entry-value.js";
import { hasIndexKey, type IndexEntry } from "../../indexes/index-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { primaryKeyOfPointer, rowKey } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { expectedEntries } from "../build/expected-entries.js";
import type { EntryFinding } from "./verify-state.js";

/** What puts an entry right, as far as a write of entries can. */
export interface EntryRepair {
  /** What was read, and has to be so still. */
  readonly checks: readonly AtomicCheck[];
  /** What is written: an entry that a row should have; an entry goes; it is recorded that the row is a duplicate. */
  readonly write:
    | { readonly kind: "set"; readonly entry: IndexEntry; readonly row: ExpiringRow }
    | { readonly kind: "delete" }
    | { readonly kind: "record"; readonly duplicate: Duplicate };
}

/** A row, with the time at which it expires where the database tells it. */
type ExpiringRow = Pick<FoundRow, "primaryKey" | "expireAt">;

/** Something that is wrong, by one reading of all that it depends on. */
export interface Inspection {
  readonly index: CompiledIndex;
  readonly finding: EntryFinding;
  /** Undefined where nothing but a change of one of the rows can put it right. */
  readonly repair: EntryRepair | undefined;
  /** Nobody has by right what stands under the key of a unique index, so that it looks like a dangling entry too. */
  readonly looksDangling: boolean;
}

/** What is stored for a row, as far as an entry of it is concerned. */
interface Reading {
  readonly row: KvEntryMaybe<unknown>;
  readonly stored: KvEntryMaybe<unknown>;
  readonly owner:
    | { readonly primaryKey: readonly KvKeyPart[]; readonly row: KvEntryMaybe<unknown> }
    | undefined;
  /** It is known that another row has the unique value. */
  readonly isKnownDuplicate: boolean;
}

/** Whether the entry holds what the row's should. */
export function isOwnValue(
  model: CompiledModel,
  { index, value }: IndexEntry,
  primaryKey: readonly KvKeyPart[],
  stored: unknown,
): boolean {
  if (index.store !== "pointer") return isDeepStrictEqual(stored, value);
  const pointed = primaryKeyOfPointer(model, stored);
  return pointed === undefined ? isDeepStrictEqual(stored, value) : isSameKey(pointed, primaryKey);
}

/**
 * Looks once more whether a row lacks an entry, with the row and the entry as they are at one time; undefined where
 * nothing is wrong, as where a writer was between two reads.
 */
export async function inspectRowEntry(
  context: TableContext,
  { index, key }: Pick<IndexEntry, "index" | "key">,
  primaryKey: readonly KvKeyPart[],
): Promise<Inspection | undefined> {
  const { model } = context;
  const { row, stored, owner, isKnownDuplicate } = await readEntry(context, index, key, primaryKey);
  if (row.versionstamp === null) return undefined;
  const own = expectedEntries(model, [index], row.value, primaryKey);
  const entry = own.find((candidate) => isSameKey(candidate.key, key));
  if (entry === undefined) return undefined;
  const isThere = stored.versionstamp !== null;
  if (isThere && isOwnValue(model, entry, primaryKey, stored.value)) return undefined;
  const isHeldByOther =
    owner !== undefined && isHeld(model, index, key, owner.primaryKey, owner.row);
  // A run that builds the index tells of its duplicates itself, and the next one gives a key that is free to one of them.
  const isBuilding = context.catalog.snapshot.stateOf(index) === "verifying";
  if (isKnownDuplicate && (isBuilding || !isHeldByOther)) return undefined;
  const finding: EntryFinding = {
    kind: isThere ? "mismatched" : "missing",
    model: model.name,
    index: index.name,
    key,
    primaryKey,
    repaired: false,
  };
  const checks: AtomicCheck[] = [checkOf(row), checkOf(stored)];
  if (owner !== undefined) checks.push(checkOf(owner.row));
  if (isHeldByOther) {
    const value = key.slice(1);
    const duplicate = { model: model.name, index: index.name, value, primaryKey };
    const repair: EntryRepair = { checks, write: { kind: "record", duplicate } };
    return {
      index,
      finding: { ...finding, heldBy: owner.primaryKey },
      repair: mayHaveDuplicates(context, index) && !isKnownDuplicate ? repair : undefined,
      looksDangling: false,
    };
  }
  const expiring = { primaryKey, expireAt: row.expireAt };
  return {
    index,
    finding,
    repair: { checks, write: { kind: "set", entry, row: expiring } },
    looksDangling: isThere && index.unique,
  };
}

/**
 * Looks once more whether an entry is one that no row has, with the entry and the row that it names as they are at one
 * time; undefined where nothing is wrong.
 */
export async function inspectEntry(
  context: TableContext,
  index: CompiledIndex,
  key: KvKey,
): Promise<Inspection | undefined> {
  const { kv, model } = context;
  let primaryKey: readonly KvKeyPart[] | undefined;
  for (;;) {
    const keys = primaryKey === undefined ? [key] : [key, rowKey(model, primaryKey)];
    const [stored, row] = await kv.getMany<unknown[]>(keys);
    if (stored === undefined || stored.versionstamp === null) return undefined;
    const named = primaryKeyAt(model, index, key, stored.value);
    if (named !== undefined && (primaryKey === undefined || !isSameKey(named, primaryKey))) {
      primaryKey = named;
      continue;
    }
    if (named !== undefined && row !== undefined && isHeld(model, index, key, named, row)) {
      return undefined;
    }
    const finding: EntryFinding = {
      kind: "dangling",
      model: model.name,
      index: index.name,
      key,
      primaryKey: named ?? null,
      repaired: false,
    };
    const checks = [checkOf(stored)];
    if (named !== undefined && row !== undefined) checks.push(checkOf(row));
    const repair: EntryRepair = { checks, write: { kind: "delete" } };
    return { index, finding, repair, looksDangling: false };
  }
}

/**
 * The primary key of the row that an entry is for: the last parts of its key, or what it holds where it is unique. Undefined
 * where it names none.
 */
export function primaryKeyAt(
  model: CompiledModel,
  index: CompiledIndex,
  key: KvKey,
  value: unknown,
): readonly KvKeyPart[] | undefined {
  const parts = 1 + index.parts.length;
  const length = index.unique ? parts : parts + model.primaryKey.length;
  if (key.length !== length) return undefined;
  return index.unique ? primaryKeyOfEntry(model, index, value) : key.slice(parts);
}

/** Whether the row has this key in the index. */
export function isHeld(
  model: CompiledModel,
  index: CompiledIndex,
  key: KvKey,
  primaryKey: readonly KvKeyPart[],
  { value, versionstamp }: KvEntryMaybe<unknown>,
): boolean {
  if (versionstamp === null || typeof value !== "object" || value === null) return false;
  return !Array.isArray(value) && hasIndexKey(model, index, value as AnyRow, primaryKey, key);
}

/** Reads a row and what stands under the key of its entry, and the row that is meant there, all of them at one time. */
async function readEntry(
  context: TableContext,
  index: CompiledIndex,
  key: KvKey,
  primaryKey: readonly KvKeyPart[],
): Promise<Reading> {
  const { kv, model } = context;
  const value = key.slice(1);
  const record = duplicateKey(model, { model: model.name, index: index.name, value, primaryKey });
  const isRecorded =
    mayHaveDuplicates(context, index) && canBeStored(record, context.limits.keyBytes);
  let owner: readonly KvKeyPart[] | undefined;
  for (;;) {
    const keys = [rowKey(model, primaryKey), key];
    if (owner !== undefined) keys.push(rowKey(model, owner));
    if (isRecorded) keys.push(record);
    const [row, stored, ...others] = await kv.getMany<unknown[]>(keys);
    if (row === undefined || stored === undefined) throw new TypeError("getMany answers each key");
    const named =
      index.unique && stored.versionstamp !== null
        ? primaryKeyOfEntry(model, index, stored.value)
        : undefined;
    const isOther = named !== undefined && !isSameKey(named, primaryKey);
    if (isOther && (owner === undefined || !isSameKey(named, owner))) {
      owner = named;
      continue;
    }
    const ownerRow = owner === undefined ? undefined : others[0];
    return {
      row,
      stored,
      owner: isOther && ownerRow !== undefined ? { primaryKey: named, row: ownerRow } : undefined,
      isKnownDuplicate: isRecorded && (others.at(-1)?.versionstamp ?? null) !== null,
    };
  }
}

/** Whether a record of a duplicate is why a row is not in a unique index: where that is read it has none. */
function mayHaveDuplicates({ catalog }: TableContext, index: CompiledIndex): boolean {
  const state = catalog.snapshot.stateOf(index);
  return index.unique && (state === "unique-pending" || state === "verifying");
}

function checkOf({ key, versionstamp }: KvEntryMaybe<unknown>): AtomicCheck {
  return { key, versionstamp };
}
