import type { AtomicCheck, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { canBeStored } from "../../../model/keys/can-be-stored.js";
import { primaryKeyOfEntry } from "../../../model/keys/entry-value.js";
import { expectedEntries, rowHasKey } from "../../../model/keys/expected-entries.js";
import type { IndexEntry } from "../../../model/keys/index-entries.js";
import { isSameKey } from "../../../model/keys/key-parts.js";
import { primaryKeyOfPointer, rowKey } from "../../../model/keys/primary-key.js";
import { isSameData } from "../../../model/rows/is-same-data.js";
import { storedTime } from "../../../model/rows/time.js";
import { type Duplicate, duplicateKey } from "../../../state/catalog/backfill-state.js";
import type { FoundRow } from "../../../state/context/any-query.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { readLinkedRow } from "../../../state/rows/read-rows.js";

/** A wrong entry of an index. */
export interface EntryFinding {
  /**
   * `"missing"`: the row has no entry. `"mismatched"`: the entry under the key is not the row's,
   * for example a pointer to another row or an old copy of the row. `"dangling"`: the entry belongs
   * to no row.
   */
  readonly kind: "missing" | "dangling" | "mismatched";
  readonly model: string;
  readonly index: string;
  /** The key of the entry. */
  readonly key: KvKey;
  /**
   * The primary key of the row that should have the entry. For a dangling entry, the row that it
   * names, or null if it names none.
   */
  readonly primaryKey: readonly KvKeyPart[] | null;
  /** True if the entry was repaired. */
  readonly repaired: boolean;
  /**
   * The primary key of another row that rightfully has the unique value. Only a change of one of
   * the two rows can repair this.
   */
  readonly heldBy?: readonly KvKeyPart[];
}

/** The number of findings of each kind. */
export type FindingCounts = Readonly<Record<EntryFinding["kind"], number>>;

export interface EntryRepair {
  /** The versionstamps of everything that was read. They must not have changed at the commit. */
  readonly checks: readonly AtomicCheck[];
  /**
   * `"set"` writes an entry that a row should have, `"delete"` deletes a dangling entry, and
   * `"record"` records that the row is a duplicate.
   */
  readonly write:
    | { readonly kind: "set"; readonly entry: IndexEntry; readonly row: ExpiringRow }
    | { readonly kind: "delete" }
    | { readonly kind: "record"; readonly duplicate: Duplicate };
}

/** A row, with its expiry time if the database reports it. */
type ExpiringRow = Pick<FoundRow, "primaryKey" | "expireAt">;

/** A wrong entry, found by reading everything that it depends on in one snapshot. */
export interface Inspection {
  readonly index: CompiledIndex;
  readonly finding: EntryFinding;
  /** Undefined if only a change of one of the rows can repair it. */
  readonly repair: EntryRepair | undefined;
  /** True if the scan of the entries would report this entry again, as dangling. */
  readonly looksDangling: boolean;
}

const absent: KvEntryMaybe<unknown> = { key: [], value: null, versionstamp: null };

export function isExpectedValue(
  model: CompiledModel,
  { index, value }: IndexEntry,
  primaryKey: readonly KvKeyPart[],
  stored: unknown,
): boolean {
  if (index.store !== "pointer") return isSameData(stored, value);
  const pointed = primaryKeyOfPointer(model, stored);
  return pointed === undefined ? isSameData(stored, value) : isSameKey(pointed, primaryKey);
}

/**
 * Checks again whether a row lacks an entry, with the row and the entry read in one snapshot.
 * Returns undefined if nothing is wrong, for example because a writer committed between the first
 * two reads.
 */
export async function inspectRowEntry(
  context: ModelStore,
  { index, key }: Pick<IndexEntry, "index" | "key">,
  primaryKey: readonly KvKeyPart[],
): Promise<Inspection | undefined> {
  const { kv, model } = context;
  const value = key.slice(1);
  const duplicate = { model: model.name, index: index.name, value, primaryKey };
  const record = duplicateKey(model, duplicate);
  const isRecorded =
    mayHaveDuplicates(context, index) && canBeStored(record, context.limits.keyBytes);
  const { entries, linked: owner } = await readLinkedRow(
    (keys) => kv.getMany<unknown[]>(keys),
    [rowKey(model, primaryKey), key, ...(isRecorded ? [record] : [])],
    model,
    ([, { versionstamp, value } = absent]) => {
      if (!index.unique || versionstamp === null) return undefined;
      const named = primaryKeyOfEntry(model, index, value);
      return named !== undefined && isSameKey(named, primaryKey) ? undefined : named;
    },
  );
  const [row = absent, stored = absent, { versionstamp: recorded } = absent] = entries;
  const isKnownDuplicate = recorded !== null;
  if (row.versionstamp === null) return undefined;
  const expected = expectedEntries(model, [index], row.value, primaryKey);
  const entry = expected.find((candidate) => isSameKey(candidate.key, key));
  if (entry === undefined) return undefined;
  const isThere = stored.versionstamp !== null;
  if (isThere && isExpectedValue(model, entry, primaryKey, stored.value)) return undefined;
  const isHeldByOther =
    owner !== undefined && rowHasKey(model, index, key, owner.primaryKey, owner.row);
  // A transform has given the key to another row. It also changes this row, which then has another.
  const { snapshot } = context.catalog;
  const isExchanged =
    snapshot.isExchanging(index) && snapshot.upgradeOf(row.versionstamp) !== undefined;
  if (isHeldByOther && isExchanged) return undefined;
  // A backfill reports its duplicates itself. If the key has become free, the next run gives it to
  // one of the duplicates.
  const isBuilding = snapshot.stateOf(index) === "verifying";
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
    const repair: EntryRepair = { checks, write: { kind: "record", duplicate } };
    return {
      index,
      finding: { ...finding, heldBy: owner.primaryKey },
      repair: mayHaveDuplicates(context, index) && !isKnownDuplicate ? repair : undefined,
      looksDangling: false,
    };
  }
  const expiring = { primaryKey, expireAt: storedTime(row.expireAt) };
  return {
    index,
    finding,
    repair: { checks, write: { kind: "set", entry, row: expiring } },
    looksDangling: isThere && index.unique,
  };
}

/**
 * Checks again whether an entry belongs to no row, with the entry and its row read in one snapshot.
 * Returns undefined if nothing is wrong.
 */
export async function inspectEntry(
  context: ModelStore,
  index: CompiledIndex,
  key: KvKey,
): Promise<Inspection | undefined> {
  const { kv, model } = context;
  const {
    entries: [stored = absent],
    linked,
  } = await readLinkedRow(
    (keys) => kv.getMany<unknown[]>(keys),
    [key],
    model,
    ([{ versionstamp, value } = absent]) =>
      versionstamp === null ? undefined : primaryKeyAt(model, index, key, value),
  );
  if (stored.versionstamp === null) return undefined;
  if (linked && rowHasKey(model, index, key, linked.primaryKey, linked.row)) return undefined;
  const finding: EntryFinding = {
    kind: "dangling",
    model: model.name,
    index: index.name,
    key,
    primaryKey: linked?.primaryKey ?? null,
    repaired: false,
  };
  const checks = [stored, ...(linked ? [linked.row] : [])].map(checkOf);
  const repair: EntryRepair = { checks, write: { kind: "delete" } };
  return { index, finding, repair, looksDangling: false };
}

/**
 * Returns the primary key of the row that an entry leads to. It is in the value of a unique entry,
 * and at the end of the key of any other. Returns undefined if the entry names no row.
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

/** A readable index has no duplicate records. */
function mayHaveDuplicates({ catalog }: ModelStore, index: CompiledIndex): boolean {
  const state = catalog.snapshot.stateOf(index);
  return index.unique && (state === "unique-pending" || state === "verifying");
}

function checkOf({ key, versionstamp }: KvEntryMaybe<unknown>): AtomicCheck {
  return { key, versionstamp };
}
