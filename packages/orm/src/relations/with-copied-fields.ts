import type { KvEntryMaybe, KvKeyPart } from "@keywright/core";
import type { TableContext } from "../context/table-context.js";
import { isSameKey } from "../indexes/key-parts.js";
import { primaryKeyOf } from "../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../model/compiled-model.js";
import { withCopies } from "../model/relations/copied-fields.js";
import type { CopiedFields } from "../model/relations/relation-definition.js";
import { isRow } from "../model/rows/stored-row.js";
import { fillDefaults } from "../schema/upgrade/fill-defaults.js";
import type { KeyId } from "../transaction/buffer/key-id.js";
import { referencedKey, rowIdOf } from "./referenced-key.js";
import { tableOfModel } from "./referrers.js";

/** The rows to which a row newly refers, as they were read, by {@link rowIdOf}. */
export type ReferencedEntries = ReadonlyMap<KeyId, KvEntryMaybe<unknown>>;

/**
 * Returns a row with the fields that it copies from the rows to which it refers. If it refers to
 * the same row as before, it keeps the copies that it had. If it no longer refers to a row, they
 * get the defaults of the schema.
 *
 * @param before the row as it is stored. Null if it is created.
 * @param renews true to fill all copies again, also from the rows to which it refers already, if
 * they exist.
 */
export function withCopiedFields(
  context: TableContext,
  before: AnyRow | null,
  row: AnyRow,
  referenced: ReferencedEntries,
  renews: boolean,
): AnyRow {
  let copied = row;
  // A row that refers to itself may copy a field that is a copy too.
  for (let passes = 0; passes < context.model.copied.size; passes++) {
    const previous = copied;
    copied = copyOnce(context, before, previous, referenced, renews);
    if (copied === previous) break;
  }
  return copied;
}

function copyOnce(
  context: TableContext,
  before: AnyRow | null,
  row: AnyRow,
  referenced: ReferencedEntries,
  renews: boolean,
): AnyRow {
  let copied = row;
  for (const { relation, target } of context.links.relations.values()) {
    if (relation.kind !== "belongsTo") continue;
    const { copy, fields } = relation;
    if (Object.keys(copy).length === 0) continue;
    const targetId = referencedKey(fields, row);
    const isSelf = targetId !== undefined && isOwnKey(context.model, target, row, targetId);
    const previous = before === null ? undefined : referencedKey(fields, before);
    const isKept = before !== null && isSame(previous, targetId);
    if (isSelf) copied = withCopies(copy, copied, copied);
    else if (isKept && !renews) copied = withCopies(keptNames(copy, before), before, copied);
    else if (targetId === undefined)
      copied = withCopies(ownNames(copy), copiesOfNoRow(context.model, copy), copied);
    else {
      const source = sourceOf(context, target, targetId, referenced);
      if (source !== undefined) copied = withCopies(copy, source, copied);
    }
  }
  return copied;
}

/** Returns the copied fields of a row that refers to no row: the defaults of the schema. */
export function copiesOfNoRow({ name, schema }: CompiledModel, copy: CopiedFields): AnyRow {
  return fillDefaults(name, schema, {}, Object.keys(copy));
}

function isOwnKey(
  model: CompiledModel,
  target: CompiledModel,
  row: AnyRow,
  targetId: readonly KvKeyPart[],
): boolean {
  return target.name === model.name && isSameKey(primaryKeyOf(model, row), targetId);
}

type Reference = readonly KvKeyPart[] | undefined;

function isSame(a: Reference, b: Reference): boolean {
  return a === undefined || b === undefined ? a === b : isSameKey(a, b);
}

/** A row of an earlier schema may lack a copied field. It has what its migration gives it. */
function keptNames(copy: CopiedFields, before: AnyRow): CopiedFields {
  const kept = Object.entries(ownNames(copy)).filter(([field]) => Object.hasOwn(before, field));
  return Object.fromEntries(kept);
}

export function ownNames(copy: CopiedFields): CopiedFields {
  return Object.fromEntries(Object.keys(copy).map((field) => [field, field]));
}

function sourceOf(
  { tables }: TableContext,
  target: CompiledModel,
  targetId: readonly KvKeyPart[],
  referenced: ReferencedEntries,
): AnyRow | undefined {
  const entry = referenced.get(rowIdOf(target, targetId));
  if (entry === undefined || entry.versionstamp === null || !isRow(entry.value)) return undefined;
  const upgrade = tableOfModel(tables, target).catalog.snapshot.upgradeOf(entry.versionstamp);
  return upgrade?.(entry.value) ?? entry.value;
}
