import type { AtomicCheck, KvKey, KvKeyPart, KvMutation } from "@keywright/core";
import type { TableContext } from "../context/table-context.js";
import { ReferenceMissingError } from "../errors/row-errors.js";
import { isSameKey, isSamePart, keyPartOf } from "../indexes/key-parts.js";
import { pointerOf, primaryKeyOf, rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { readKeys } from "../query/read/read-rows.js";
import { referenceGuardKey } from "./guard-keys.js";
import { referenceIndexes } from "./reference-index.js";
import { isReferenceTo, referencedKey } from "./referenced-key.js";

/** A reference that a write adds to a row. */
interface NewReference {
  readonly relation: string;
  readonly fields: readonly string[];
  readonly target: CompiledModel;
  readonly targetId: readonly KvKeyPart[];
  readonly key: KvKey;
}

/** What a commit checks and writes so that no reference dangles. */
export interface ReferenceChanges {
  readonly checks: readonly AtomicCheck[];
  readonly mutations: readonly KvMutation[];
}

export const noReferences: ReferenceChanges = { checks: [], mutations: [] };

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
 * @param before null if the row is created.
 * @throws {ReferenceMissingError} if a referenced row does not exist.
 */
export async function checkReferences(
  context: TableContext,
  before: AnyRow | null,
  after: AnyRow,
): Promise<ReferenceChanges> {
  const references = newReferences(context, before, after);
  const moved = before === null ? [] : movedReferences(context, before, after);
  if (references.length === 0 && moved.length === 0) return noReferences;
  const keys: KvKey[] = [];
  for (const { key } of references) {
    if (!keys.some((other) => isSameKey(other, key))) keys.push(key);
  }
  const entries = keys.length === 0 ? [] : await readKeys(context, keys);
  const checks: AtomicCheck[] = [];
  const guards: KvKey[] = [...moved];
  for (const [position, key] of keys.entries()) {
    const reference = references.find((each) => isSameKey(each.key, key));
    const versionstamp = entries[position]?.versionstamp ?? null;
    if (reference === undefined) continue;
    const { relation, fields, target, targetId } = reference;
    if (versionstamp === null) {
      const missing = { relation, fields, target: target.name, targetId: pointerOf(targetId) };
      throw new ReferenceMissingError(context.model.name, missing);
    }
    checks.push({ key, versionstamp });
    guards.push(referenceGuardKey(target, targetId));
  }
  const mutations = guards.map((key): KvMutation => ({ key, type: "sum", value: { value: 1n } }));
  return { checks, mutations };
}

/**
 * Returns the guard keys of the rows that are referenced before and after a change, if the index
 * entry of the reference gets another key.
 */
function movedReferences({ model, links }: TableContext, before: AnyRow, after: AnyRow): KvKey[] {
  const guards: KvKey[] = [];
  for (const { relation, target, index } of links.relations.values()) {
    if (relation.kind !== "belongsTo" || index === undefined) continue;
    const { fields } = relation;
    // A delete may list the entries of any of these indexes that is readable. None of them has
    // computed parts, so its keys change only if its fields do.
    const isMoved = referenceIndexes(model, fields).some((each) =>
      each.fields.slice(fields.length).some((field) => !isSameField(field, before, after)),
    );
    if (!isMoved) continue;
    const targetId = referencedKey(fields, after);
    if (targetId === undefined || !isReferenceTo(fields, before, targetId)) continue;
    if (target.name === model.name && isSameKey(primaryKeyOf(model, after), targetId)) continue;
    const guard = referenceGuardKey(target, targetId);
    if (!guards.some((other) => isSameKey(other, guard))) guards.push(guard);
  }
  return guards;
}

function isSameField(field: string, before: AnyRow, after: AnyRow): boolean {
  return isSamePart(keyPartOf(before[field]), keyPartOf(after[field]));
}

function newReferences(
  { model, links }: TableContext,
  before: AnyRow | null,
  after: AnyRow,
): NewReference[] {
  const references: NewReference[] = [];
  for (const { name, relation, target } of links.relations.values()) {
    if (relation.kind !== "belongsTo") continue;
    const { fields } = relation;
    const targetId = referencedKey(fields, after);
    if (targetId === undefined) continue;
    if (before !== null && isReferenceTo(fields, before, targetId)) continue;
    // A row that refers to itself exists as soon as the reference does.
    if (target.name === model.name && isSameKey(primaryKeyOf(model, after), targetId)) continue;
    references.push({ relation: name, fields, target, targetId, key: rowKey(target, targetId) });
  }
  return references;
}
