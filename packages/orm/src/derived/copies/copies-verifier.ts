import type { KvEntry, KvEntryMaybe, KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { keyText } from "../../model/keys/key-text.js";
import { pointerOf, rowKey } from "../../model/keys/primary-key.js";
import type { BelongsTo } from "../../model/relations/relation-definition.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { viewOf } from "../../state/context/read-view.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import { referencedKey } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import {
  foundRow,
  readKeys,
  readLinkedRow,
  readRows,
  readWithSchema,
} from "../../state/rows/read-rows.js";
import type { OutdatedCopy } from "../verify/verification.js";
import type { Confirmed, Suspect, Verifier, VerifyContext } from "../verify/verifier.js";
import { changedCopies, copiesOfNoRow, ownNames } from "./copied-values.js";

/** The rows of a model whose copied fields a verification found wrong. */
export interface CheckedCopies {
  /** The number of rows with wrong copies. */
  readonly count: number;
  /** The first 100. A row is listed once for each relation. */
  readonly first: readonly OutdatedCopy[];
  /** How many of these rows were written again. */
  readonly repaired: number;
}

/** A relation that copies fields. */
interface CopyRelation {
  readonly name: string;
  readonly relation: BelongsTo;
  readonly target: RelatedStore;
}

/** A row whose copies by one relation are wrong, as it was read. */
interface WrongCopies {
  readonly primaryKey: readonly KvKeyPart[];
  readonly copying: CopyRelation;
  /** Those of the row, not of the row that it copied. */
  readonly fields: readonly string[];
}

/**
 * Compares the copied fields of rows with the rows that they copy. A row that is wrong is written
 * again by a commit that checks both rows.
 */
export const copiesVerifier: Verifier<WrongCopies> = { compare, settle };

async function compare(
  page: readonly KvEntry<AnyRow>[],
  { store, verification, onlyIndexes }: VerifyContext,
): Promise<Suspect<WrongCopies>[]> {
  if (onlyIndexes || !verification.isSumming) return [];
  const suspects = await suspectCopies(store, page);
  return suspects.map((suspect) => () => compareAgain(store, suspect));
}

async function settle(
  confirmed: readonly Confirmed<WrongCopies>[],
  { store, verification, repair, renewRows }: VerifyContext,
): Promise<void> {
  const found = confirmed.map((one) => one.found);
  const ids = primaryKeysOf(found);
  const { copies } = verification.state;
  copies.count += ids.length;
  if (repair) copies.repaired += (await renewRows?.(ids)) ?? 0;
  for (const { primaryKey, copying, fields } of found) {
    const id = pointerOf(primaryKey);
    verification.list("copy", { model: store.model.name, id, relation: copying.name, fields });
  }
}

/**
 * Returns the rows of a page whose copies differ, by each relation. The rows that they copy are
 * read afterwards, so that a difference may only be that of two times.
 */
export async function suspectCopies(
  store: RelatedStore,
  page: readonly KvEntry<AnyRow>[],
): Promise<WrongCopies[]> {
  const relations = copyRelations(store);
  if (relations.length === 0) return [];
  const view = viewOf(store);
  const entries = await readWithSchema(view, async () => [...page]);
  const found = entries.flatMap((entry) => {
    const primaryKey = entry.key.slice(1);
    if (primaryKey.length !== store.model.primaryKey.length) return [];
    return foundRow(view, primaryKey, entry, true) ?? [];
  });
  const suspects: WrongCopies[] = [];
  for (const copying of relations) {
    const ids = found.map(({ row }) => referencedKey(copying.relation.fields, row));
    const known = ids.filter((id) => id !== undefined);
    const sources = (await readRows(viewOf(copying.target), known)).values();
    for (const [i, row] of found.entries()) {
      const source = ids[i] && sources.next().value;
      suspects.push(...wrongCopies(store, copying, row, ids[i], source));
    }
  }
  return suspects;
}

/** Returns the primary keys of rows, each once. */
export function primaryKeysOf(suspects: readonly WrongCopies[]): (readonly KvKeyPart[])[] {
  return [...new Map(suspects.map(({ primaryKey }) => [keyText(primaryKey), primaryKey])).values()];
}

/** Returns the relations by which rows of a model copy fields. */
function copyRelations({ links, tables }: RelatedStore): CopyRelation[] {
  return [...links.relations.values()].flatMap(({ name, relation, target }) => {
    if (relation.kind !== "belongsTo" || Object.keys(relation.copy).length === 0) return [];
    // The copies of a row that is marked as deleted are right if it is restored.
    const store = { ...tableOfModel(tables, target), withDeleted: true };
    return [{ name, relation, target: store }];
  });
}

/** Compares a row again with the one that it copies by now, both from one snapshot. */
async function compareAgain(
  store: RelatedStore,
  { primaryKey, copying }: WrongCopies,
): Promise<WrongCopies | undefined> {
  const { relation, target } = copying;
  const view = viewOf(store);
  const find = ([entry]: readonly KvEntryMaybe<unknown>[]) =>
    foundRow(view, primaryKey, entry!, true);
  const { entries, linked } = await readLinkedRow(
    (keys) => readKeys(view, keys),
    [rowKey(store.model, primaryKey)],
    target.model,
    (read) => {
      const found = find(read);
      return found && referencedKey(relation.fields, found.row);
    },
  );
  const found = find(entries);
  return found && wrongCopies(store, copying, found, linked?.primaryKey, linked?.row)[0];
}

/**
 * Returns what differs, if anything. The copies of a row that refers to no row must be the defaults
 * of the schema. A reference that leads to no row is not reported.
 */
function wrongCopies(
  { model }: RelatedStore,
  copying: CopyRelation,
  { primaryKey, row }: FoundRow,
  targetId: readonly KvKeyPart[] | undefined,
  entry: KvEntryMaybe<unknown> | undefined,
): [] | [WrongCopies] {
  const { copy } = copying.relation;
  const source = targetId && entry && foundRow(viewOf(copying.target), targetId, entry);
  let fields: readonly string[] = [];
  if (targetId === undefined)
    fields = changedCopies(ownNames(copy), copiesOfNoRow(model, copy), row);
  else if (source !== undefined) fields = changedCopies(copy, source.row, row);
  return fields.length === 0 ? [] : [{ primaryKey, copying, fields }];
}
