import type { AtomicCheck, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { awaitAll } from "../context/await-all.js";
import { isInScope } from "../context/scope.js";
import type { TableContext } from "../context/table-context.js";
import { ReferenceMissingError } from "../errors/row-errors.js";
import { isSameKey, isSamePart, keyPartOf } from "../indexes/key-parts.js";
import { pointerOf, primaryKeyOf, rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { isMarked, markOf } from "../model/options/soft-delete.js";
import { isRow } from "../model/rows/stored-row.js";
import { readStored } from "../rows/read-rows.js";
import type { KeyId } from "../transaction/buffer/key-id.js";
import { referenceGuardKey } from "./guard-keys.js";
import { referenceIndexes } from "./reference-index.js";
import { isReferenceTo, referencedKey, rowIdOf } from "./referenced-key.js";
import { tableOfModel } from "./referrers.js";
import { type ReferencedEntries, withCopiedFields } from "./with-copied-fields.js";

/** What a commit checks and writes to keep the references of a row from dangling. */
export interface References {
  readonly checks: readonly AtomicCheck[];
  /** The keys of the guards of referenced rows, to which the commit adds 1. */
  readonly guards: readonly KvKey[];
}

/** The same, with the row in which fields have been copied from the rows to which it refers. */
export interface CheckedReferences extends References {
  readonly row: AnyRow;
}

export const noReferences: References = { checks: [], guards: [] };

/** How the copied fields of a row are filled. */
export interface CopyOptions {
  /** The row before the write, as it is stored. Null if there is none. */
  readonly stored: AnyRow | null;
  /** True if the row already has its copies. */
  readonly isCopied?: boolean;
  /** True to copy also from rows that it referred to before. Missing ones are skipped. */
  readonly renewsCopies?: boolean;
}

/** A row whose guard a write changes, and the first reference to it. */
interface ReferencedRow {
  readonly relation: string;
  readonly fields: readonly string[];
  readonly target: CompiledModel;
  readonly targetId: readonly KvKeyPart[];
  /** False if the row was referenced before, and the index entry of the reference moves. */
  readonly isNew: boolean;
}

/**
 * Returns what a commit has to check and write so that no reference of the row dangles.
 *
 * For each new reference, the referenced row is read (one read each), the commit checks its
 * versionstamp, and 1 is added to its guard. The changed guard tells a concurrent delete of that
 * row that there is a new reference.
 *
 * For a reference that the row keeps, 1 is added to the guard if the index entry of the reference
 * gets another key. A concurrent delete that lists the entries may already have passed that key.
 *
 * The fields that the row copies get the values of the rows that it newly refers to, as they were
 * read. If the row refers to the same row as before, its copies stay, because each write of that
 * row maintains them.
 *
 * @param before null if the row is created.
 * @param row the row after the change.
 * @throws {ReferenceMissingError} if a referenced row does not exist.
 */
export async function checkReferences(
  context: TableContext,
  before: AnyRow | null,
  row: AnyRow,
  { stored, isCopied = false, renewsCopies = false }: CopyOptions,
): Promise<CheckedReferences> {
  const found = referencedRows(context, before, row, renewsCopies);
  const added = found.filter(({ isNew }) => isNew);
  const { keys, entries } =
    added.length === 0 ? { keys: [], entries: [] } : await readTargets(context, added);
  const checks = added.flatMap(({ relation, fields, target, targetId }, i): AtomicCheck[] => {
    const { versionstamp = null, value = null } = entries[i] ?? {};
    if (renewsCopies && before !== null && isReferenceTo(fields, before, targetId)) {
      return versionstamp === null ? [] : [{ key: keys[i]!, versionstamp }];
    }
    if (versionstamp === null || (isRow(value) && isHidden(context, target, targetId, value))) {
      const missing = { relation, fields, target: target.name, targetId: pointerOf(targetId) };
      throw new ReferenceMissingError(context.model.name, missing);
    }
    return [{ key: keys[i]!, versionstamp }];
  });
  const { copied } = context.model;
  const isFilled = copied.size === 0 || isCopied;
  const after = isFilled
    ? row
    : withCopiedFields(context, stored, row, entriesById(added, entries), renewsCopies);
  // A copy may be in the key of the index that finds another reference of the row.
  const referenced = isFilled ? found : referencedRows(context, before, after, renewsCopies);
  if (added.length < referenced.length) await assertNotDropped(context, referenced);
  const guards = referenced.map(({ target, targetId }) => referenceGuardKey(target, targetId));
  return { row: after, checks, guards };
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
  { tables, restored }: TableContext,
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
  { tables }: TableContext,
  referenced: readonly ReferencedRow[],
): Promise<void> {
  const kept = referenced.filter(({ isNew }) => !isNew);
  const catalogs = new Set(kept.map(({ target }) => tableOfModel(tables, target).catalog));
  await awaitAll(Array.from(catalogs, (catalog) => catalog.assertSameKey()));
}

/** Reads referenced rows. Catalogs of their models that are due are read at the same time. */
async function readTargets(
  context: TableContext,
  referenced: readonly ReferencedRow[],
): Promise<{ keys: readonly KvKey[]; entries: readonly KvEntryMaybe<unknown>[] }> {
  const catalogs = referenced.map(({ target }) => tableOfModel(context.tables, target).catalog);
  for (;;) {
    const snapshots = catalogs.map(({ snapshot }) => snapshot);
    const keys = referenced.map(({ target, targetId }) => rowKey(target, targetId));
    const due = catalogs.filter(({ isKeyKnown }) => !isKeyKnown);
    const [entries] = await awaitAll([
      readStored(context, keys),
      ...Array.from(new Set(due), (catalog) => catalog.assertSameKey()),
    ]);
    // A change of the primary key moves the rows.
    if (catalogs.every(({ snapshot }, i) => snapshot === snapshots[i])) return { keys, entries };
  }
}

function referencedRows(
  { model, links }: TableContext,
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
