import type { KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { rowKey } from "../../model/keys/primary-key.js";
import type { BelongsTo } from "../../model/relations/relation-definition.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { viewOf } from "../../state/context/read-view.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import { isSameReference, referencedKey } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import { foundRow, readKeys, readRows } from "../../state/rows/read-rows.js";
import { changedCopies, copiesOfNoRow, ownNames } from "./copied-values.js";

/** A relation that copies fields. */
export interface CopyRelation {
  readonly name: string;
  readonly relation: BelongsTo;
  readonly target: RelatedStore;
}

/** A row whose copies by one relation are wrong, as it was read. */
export interface SuspectCopies {
  readonly primaryKey: readonly KvKeyPart[];
  readonly copying: CopyRelation;
  /** The row that it copied. Undefined if it referred to none. */
  readonly targetId: readonly KvKeyPart[] | undefined;
  /** Those of the row, not of the row that it copied. */
  readonly fields: readonly string[];
}

/** Returns the relations by which rows of a model copy fields. */
export function copyRelations({ links, tables }: RelatedStore): CopyRelation[] {
  return [...links.relations.values()].flatMap(({ name, relation, target }) => {
    if (relation.kind !== "belongsTo" || Object.keys(relation.copy).length === 0) return [];
    // The copies of a row that is marked as deleted are right if it is restored.
    const store = { ...tableOfModel(tables, target), withDeleted: true };
    return [{ name, relation, target: store }];
  });
}

/**
 * Compares rows with those that they copy, which are read afterwards, so that a difference may only
 * be that of two times. The copies of a row that refers to no row must be the defaults of the
 * schema. A reference that leads to no row is not reported.
 */
export async function compareCopies(
  store: RelatedStore,
  copying: CopyRelation,
  rows: readonly FoundRow[],
): Promise<SuspectCopies[]> {
  const referring = rows.map((found) => ({
    found,
    targetId: referencedKey(copying.relation.fields, found.row),
  }));
  const targets = referring.flatMap(({ targetId }) => (targetId === undefined ? [] : [targetId]));
  const sources = (await readRows(viewOf(copying.target), targets)).values();
  return referring.flatMap(({ found, targetId }) => {
    const entry = targetId === undefined ? undefined : sources.next().value;
    const fields = differences(store, copying, found, targetId, entry);
    return fields.length === 0 ? [] : [{ primaryKey: found.primaryKey, copying, targetId, fields }];
  });
}

/**
 * Compares a row again with the one that it copies, both from one snapshot. Returns the fields that
 * differ.
 */
export async function compareAgain(
  store: RelatedStore,
  { primaryKey, copying, targetId: readId }: SuspectCopies,
): Promise<readonly string[]> {
  const { relation, target } = copying;
  const view = viewOf(store);
  for (let targetId = readId; ; ) {
    const keys: KvKey[] = [rowKey(store.model, primaryKey)];
    if (targetId !== undefined) keys.push(rowKey(target.model, targetId));
    const [entry, source] = await readKeys(view, keys);
    const found = foundRow(view, primaryKey, entry!, true);
    if (found === undefined) return [];
    const currentId = referencedKey(relation.fields, found.row);
    if (isSameReference(currentId, targetId)) {
      return differences(store, copying, found, targetId, source);
    }
    // A concurrent write has changed the reference.
    targetId = currentId;
  }
}

function differences(
  { model }: RelatedStore,
  { relation: { copy }, target }: CopyRelation,
  { row }: FoundRow,
  targetId: readonly KvKeyPart[] | undefined,
  entry: KvEntryMaybe<unknown> | undefined,
): readonly string[] {
  if (targetId === undefined) return changedCopies(ownNames(copy), copiesOfNoRow(model, copy), row);
  const source = entry && foundRow(viewOf(target), targetId, entry);
  return source === undefined ? [] : changedCopies(copy, source.row, row);
}
