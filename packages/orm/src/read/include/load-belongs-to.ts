import type { KvKeyPart } from "@keywright/core";
import { ReferenceMissingError, VersionConflictError } from "../../errors/row-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { canBeAbsent } from "../../model/fields/field-schema.js";
import { pointerOf, primaryKeyOf } from "../../model/keys/primary-key.js";
import { isMarked } from "../../model/options/soft-delete.js";
import type { BelongsTo } from "../../model/relations/relation-definition.js";
import { isReferenceTo, referencedKey, rowIdOf } from "../../state/references/referenced-key.js";
import { readRows } from "../../state/rows/read-rows.js";
import type { RelationLoad } from "./relation-load.js";
import { CopyOnReuse, readRowsByKey } from "./rows-by-key.js";

/** Returns for each row the row that it belongs to, or null if there is none. */
export async function loadBelongsTo(
  load: RelationLoad,
  relation: BelongsTo,
): Promise<(AnyRow | null)[]> {
  const { view, rows, link, meter, missing, shape } = load;
  const target = view.of(link.target);
  const references = rows.map((row) => referencedKey(relation.fields, row));
  const wanted = references.filter((key) => key !== undefined);
  const found = await readRowsByKey(target, wanted, meter);
  const ids = [...found.keys()];
  const shaped = await shape(target, [...found.values()]);
  const copies = new CopyOnReuse(new Map(ids.map((id, i) => [id, shaped[i]])));
  const loaded: (AnyRow | null)[] = [];
  for (const [i, key] of references.entries()) {
    const related = key && copies.take(rowIdOf(link.target, key));
    if (related === undefined && key !== undefined && missing === "refused") {
      await assertMayBeMissing(load, relation, rows[i], key);
    }
    loaded.push(related ?? null);
  }
  return loaded;
}

/**
 * Checks that a reference to a missing row is optional: one of its fields may be absent.
 *
 * @throws {VersionConflictError} if the referring row was deleted or refers to another row now.
 * @throws {ReferenceMissingError} if it still refers to the missing row.
 */
async function assertMayBeMissing(
  { view, link, meter }: RelationLoad,
  { fields }: BelongsTo,
  row: AnyRow | undefined,
  targetId: readonly KvKeyPart[],
): Promise<void> {
  const { model } = view;
  const { shape } = model.schema;
  const isOptional = fields.some(
    (field) => shape[field] !== undefined && canBeAbsent(shape[field]),
  );
  if (isOptional || row === undefined) return;
  const primaryKey = primaryKeyOf(model, row);
  meter.add(1);
  const [current] = await readRows(view, [primaryKey]);
  const exists =
    current !== undefined && current.versionstamp !== null && !isMarked(model, current.value);
  if (!exists || !isReferenceTo(fields, current.value, targetId)) {
    // The target existed when the row was read. Since then, the row was deleted with it or changed.
    throw new VersionConflictError(model.name, pointerOf(primaryKey), 1);
  }
  throw new ReferenceMissingError(model.name, {
    relation: link.name,
    fields,
    target: link.target.name,
    targetId: pointerOf(targetId),
  });
}
