import type { AtomicCheck, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { ReferenceMissingError } from "../../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isSameKey, isSamePart, keyPartOf } from "../../model/keys/key-parts.js";
import { pointerOf, primaryKeyOf, rowKey } from "../../model/keys/primary-key.js";
import { isMarked, markOf } from "../../model/options/soft-delete.js";
import { isRow } from "../../model/rows/stored-row.js";
import { awaitAll } from "../../promises/await-all.js";
import { whenReady } from "../../promises/when-ready.js";
import type { FoundRow } from "../context/any-query.js";
import { isInScope } from "../context/scope.js";
import type { RelatedStore } from "../context/table-context.js";
import { readStored } from "../rows/read-rows.js";
import type { KeyId } from "../transaction/buffer/key-id.js";
import { deleteJobKey, referenceGuardKey } from "./guard-keys.js";
import { referenceIndexes } from "./reference-index.js";
import { isReferenceTo, referencedKey, rowIdOf } from "./referenced-key.js";
import { tableOfModel } from "./referrers.js";

/** A change of one row that may refer to others. */
export interface ReferringChange {
  readonly primaryKey: readonly KvKeyPart[];
  /** The stored row. Null if there is none. */
  readonly before: FoundRow | null;
  /** True if `before` has expired, so that `row` is a new row. */
  readonly isNew?: boolean;
  /** True if all references are checked as if they were new. */
  readonly renewsReferences?: boolean;
  /** True if the fields are copied again, also from rows that `before` refers to. */
  readonly renewsCopies?: boolean;
  /** The row after the change. Null if it is deleted. */
  readonly row: AnyRow | null;
  /** Undefined if the caller keeps rows from referring to a row that it deletes. */
  readonly unreferenced?: Unreferenced | undefined;
}

/** What the commit that deletes a row checks and deletes, so that no row refers to it. */
export interface Unreferenced {
  readonly checks: readonly AtomicCheck[];
  readonly deletes: readonly KvKey[];
}

/** What a commit checks and writes to keep the references of a row from dangling. */
export interface References {
  /** The row after the change, with the fields that it copies. Null if it is deleted. */
  readonly row: AnyRow | null;
  readonly checks: readonly AtomicCheck[];
  /** The keys of the guards of referenced rows, to which the commit adds 1. */
  readonly guards: readonly KvKey[];
  /** The keys that the commit deletes. */
  readonly deletes: readonly KvKey[];
}

/** The rows to which a row newly refers, as they were read, by {@link rowIdOf}. */
export type ReferencedEntries = ReadonlyMap<KeyId, KvEntryMaybe<unknown>>;

/**
 * Returns a row with the fields that it copies from the rows to which it refers.
 *
 * @param previous the row as it is stored. Null if all references of the row are new.
 */
export type FillCopies = (
  row: AnyRow,
  previous: AnyRow | null,
  referenced: ReferencedEntries,
) => AnyRow;

/** A row whose guard a write changes, and the first reference to it. */
interface ReferencedRow {
  readonly relation: string;
  readonly fields: readonly string[];
  readonly target: CompiledModel;
  readonly targetId: readonly KvKeyPart[];
  /** False if the row was referenced before, and the index entry of the reference moves. */
  readonly isNew: boolean;
}

/** The keys of referenced rows, and what is stored under them. */
interface Targets {
  readonly keys: readonly KvKey[];
  readonly entries: readonly KvEntryMaybe<unknown>[];
}

const none: readonly never[] = [];

/**
 * Returns what a commit has to check and write so that no reference of the row dangles. Returns a
 * promise only if the row may refer to others. The references of a deleted row, and of one that is
 * marked as deleted, are not checked.
 *
 * For each new reference, the referenced row is read (one read each), the commit checks its
 * versionstamp, and 1 is added to its guard. The changed guard tells a concurrent delete of that
 * row that there is a new reference.
 *
 * For a reference that the row keeps, 1 is added to the guard if the index entry of the reference
 * gets another key. A concurrent delete that lists the entries may already have passed that key.
 *
 * @param fill returns the row with its copied fields. Absent if it has them already.
 * @throws {ReferenceMissingError} if a referenced row does not exist.
 */
export function planReferences(
  store: RelatedStore,
  change: ReferringChange,
  fill?: FillCopies,
): References | Promise<References> {
  const { model } = store;
  const { row, unreferenced } = change;
  if (row === null && unreferenced !== undefined) return { row, ...unreferenced, guards: none };
  const deletes = staleJobs(store, change);
  if (row === null || !refersToRows(model) || isMarked(model, row)) {
    return { row, checks: none, guards: none, deletes };
  }
  return checkReferences(store, change, row, deletes, fill);
}

/** A delete job of an earlier row with the same key does not apply to a new row. */
function staleJobs(
  { model, links }: RelatedStore,
  { primaryKey, before, isNew = before === null, row }: ReferringChange,
): readonly KvKey[] {
  const isReferenced = isNew && row !== null && links.referencedBy.length > 0;
  return isReferenced ? [deleteJobKey(model, primaryKey)] : none;
}

function refersToRows({ relations }: CompiledModel): boolean {
  for (const name in relations) if (relations[name]?.kind === "belongsTo") return true;
  return false;
}

function checkReferences(
  store: RelatedStore,
  change: ReferringChange,
  row: AnyRow,
  deletes: References["deletes"],
  fill: FillCopies | undefined,
): References | Promise<References> {
  const { isNew = false, renewsReferences = false, renewsCopies = false } = change;
  const previous = isNew || renewsReferences ? null : change.before;
  const found = referencedRows(store, previous?.row ?? null, row, renewsCopies);
  const added = found.filter((each) => each.isNew);
  const targets: Targets | Promise<Targets> =
    added.length === 0 ? { keys: [], entries: [] } : readTargets(store, added);
  return whenReady(targets, (read) =>
    referencesTo(store, change, previous, row, found, read, deletes, fill),
  );
}

/** @param read what is stored for those of the rows that are newly referred to. */
function referencesTo(
  store: RelatedStore,
  { renewsCopies = false }: ReferringChange,
  previous: ReferringChange["before"],
  row: AnyRow,
  found: readonly ReferencedRow[],
  { keys, entries }: Targets,
  deletes: References["deletes"],
  fill: FillCopies | undefined,
): References | Promise<References> {
  const before = previous?.row ?? null;
  const added = found.filter((each) => each.isNew);
  const checks = added.flatMap(({ relation, fields, target, targetId }, i): AtomicCheck[] => {
    const { versionstamp = null, value = null } = entries[i] ?? {};
    if (renewsCopies && before !== null && isReferenceTo(fields, before, targetId)) {
      return versionstamp === null ? [] : [{ key: keys[i]!, versionstamp }];
    }
    if (versionstamp === null || (isRow(value) && isHidden(store, target, targetId, value))) {
      const missing = { relation, fields, target: target.name, targetId: pointerOf(targetId) };
      throw new ReferenceMissingError(store.model.name, missing);
    }
    return [{ key: keys[i]!, versionstamp }];
  });
  const stored = previous === null ? null : (previous.stored ?? previous.row);
  const filled = fill === undefined ? row : fill(row, stored, entriesById(added, entries));
  // A copy may be in the key of the index that finds another reference of the row.
  const referenced = filled === row ? found : referencedRows(store, before, filled, renewsCopies);
  const guards = referenced.map(({ target, targetId }) => referenceGuardKey(target, targetId));
  const references = { row: filled, checks, guards, deletes };
  return added.length < referenced.length
    ? assertNotDropped(store, referenced).then(() => references)
    : references;
}

function entriesById(
  added: readonly ReferencedRow[],
  entries: readonly KvEntryMaybe<unknown>[],
): ReferencedEntries {
  return new Map(
    added.map(({ target, targetId }, i) => [rowIdOf(target, targetId), entries[i]!] as const),
  );
}

/** True if a row counts as missing: it is marked as deleted, or outside of the scope. */
function isHidden(
  { tables, restored }: RelatedStore,
  target: CompiledModel,
  targetId: readonly KvKeyPart[],
  row: AnyRow,
): boolean {
  if (!isInScope(tableOfModel(tables, target), row)) return true;
  if (!isMarked(target, row)) return false;
  const isRestored =
    restored?.ids.has(rowIdOf(target, targetId)) &&
    markOf(target, row)?.getTime() === restored.time.getTime();
  return !isRestored;
}

/**
 * Refuses a guard of a row whose model was dropped. A commit that makes a new reference checks the
 * row itself.
 */
async function assertNotDropped(
  { tables }: RelatedStore,
  referenced: readonly ReferencedRow[],
): Promise<void> {
  const kept = referenced.filter(({ isNew }) => !isNew);
  const catalogs = new Set(kept.map(({ target }) => tableOfModel(tables, target).catalog));
  await awaitAll(Array.from(catalogs, (catalog) => catalog.assertSameKey()));
}

/** Reads referenced rows. Catalogs of their models that are due are read at the same time. */
async function readTargets(
  store: RelatedStore,
  referenced: readonly ReferencedRow[],
): Promise<Targets> {
  const catalogs = referenced.map(({ target }) => tableOfModel(store.tables, target).catalog);
  for (;;) {
    const snapshots = catalogs.map(({ snapshot }) => snapshot);
    const keys = referenced.map(({ target, targetId }) => rowKey(target, targetId));
    const due = catalogs.filter(({ isKeyKnown }) => !isKeyKnown);
    const [entries] = await awaitAll([
      readStored(store, keys),
      ...Array.from(new Set(due), (catalog) => catalog.assertSameKey()),
    ]);
    // A change of the primary key moves the rows.
    if (catalogs.every(({ snapshot }, i) => snapshot === snapshots[i])) return { keys, entries };
  }
}

function referencedRows(
  { model, links }: RelatedStore,
  before: AnyRow | null,
  after: AnyRow,
  renewsCopies: boolean,
): readonly ReferencedRow[] {
  const rows = new Map<KeyId, ReferencedRow>();
  for (const { name, relation, target, index } of links.relations.values()) {
    if (relation.kind !== "belongsTo") continue;
    const { fields } = relation;
    const targetId = referencedKey(fields, after);
    if (targetId === undefined) continue;
    const isRenewed = renewsCopies && Object.keys(relation.copy).length > 0;
    const isNew = before === null || isRenewed || !isReferenceTo(fields, before, targetId);
    if (!isNew && (index === undefined || !isMoved(model, fields, before, after))) continue;
    // A row that refers to itself exists as soon as the reference does.
    if (target.name === model.name && isSameKey(primaryKeyOf(model, after), targetId)) continue;
    const id = rowIdOf(target, targetId);
    const known = rows.get(id);
    if (known?.isNew || (known !== undefined && !isNew)) continue;
    rows.set(id, { relation: name, fields, target, targetId, isNew });
  }
  return [...rows.values()];
}

/**
 * True if an index entry by which a delete may find the reference gets another key. None of these
 * indexes has computed parts, so its keys change only if its fields do.
 */
function isMoved(
  model: CompiledModel,
  fields: readonly string[],
  before: AnyRow,
  after: AnyRow,
): boolean {
  return referenceIndexes(model, fields).some((index) =>
    index.fields
      .slice(fields.length)
      .some((field) => !isSamePart(keyPartOf(before[field]), keyPartOf(after[field]))),
  );
}
