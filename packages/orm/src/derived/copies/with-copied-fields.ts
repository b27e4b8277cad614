import type { KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { primaryKeyOf } from "../../model/keys/primary-key.js";
import type { CopiedFields } from "../../model/relations/relation-definition.js";
import { isRow } from "../../model/rows/stored-row.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import type { ReferencedEntries } from "../../state/references/plan-references.js";
import { isSameReference, referencedKey, rowIdOf } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import { copiesOfNoRow, ownNames, withCopies } from "./copied-values.js";

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
  store: RelatedStore,
  before: AnyRow | null,
  row: AnyRow,
  referenced: ReferencedEntries,
  renews: boolean,
): AnyRow {
  const { model, links } = store;
  let copied = row;
  // A row that refers to itself may copy a field that is a copy too.
  for (let passes = 0; passes < model.copied.size; passes++) {
    const previous = copied;
    for (const { relation, target } of links.relations.values()) {
      if (relation.kind !== "belongsTo" || Object.keys(relation.copy).length === 0) continue;
      const { copy, fields } = relation;
      const targetId = referencedKey(fields, previous);
      const idBefore = before === null ? undefined : referencedKey(fields, before);
      const isKept = before !== null && isSameReference(idBefore, targetId);
      if (targetId !== undefined && isOwnKey(model, target, previous, targetId))
        copied = withCopies(copy, copied, copied);
      else if (isKept && !renews) copied = withCopies(keptNames(copy, before), before, copied);
      else if (targetId === undefined)
        copied = withCopies(ownNames(copy), copiesOfNoRow(model, copy), copied);
      else {
        const source = sourceOf(store, target, targetId, referenced);
        if (source !== undefined) copied = withCopies(copy, source, copied);
      }
    }
    if (copied === previous) break;
  }
  return copied;
}

function isOwnKey(
  model: CompiledModel,
  target: CompiledModel,
  row: AnyRow,
  targetId: readonly KvKeyPart[],
): boolean {
  return target.name === model.name && isSameKey(primaryKeyOf(model, row), targetId);
}

/** A row of an earlier schema may lack a copied field. It has what its migration gives it. */
function keptNames(copy: CopiedFields, before: AnyRow): CopiedFields {
  const kept = Object.entries(ownNames(copy)).filter(([field]) => Object.hasOwn(before, field));
  return Object.fromEntries(kept);
}

function sourceOf(
  { tables }: RelatedStore,
  target: CompiledModel,
  targetId: readonly KvKeyPart[],
  referenced: ReferencedEntries,
): AnyRow | undefined {
  const entry = referenced.get(rowIdOf(target, targetId));
  if (entry === undefined || entry.versionstamp === null || !isRow(entry.value)) return undefined;
  const upgrade = tableOfModel(tables, target).catalog.snapshot.upgradeOf(entry.versionstamp);
  return upgrade?.(entry.value) ?? entry.value;
}
