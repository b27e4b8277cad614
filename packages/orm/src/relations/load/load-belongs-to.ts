import type { KvKeyPart } from "@keywright/core";
import { ReferenceMissingError, VersionConflictError } from "../../errors/row-errors.js";
import { pointerOf, primaryKeyOf } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { canBeAbsent } from "../../model/field-schema.js";
import type { BelongsTo } from "../../model/relation-definition.js";
import { readRows } from "../../query/read/read-rows.js";
import { isReferenceTo, referencedKey } from "../referenced-key.js";
import { tableOfModel } from "../referrers.js";
import type { RelationLoad } from "./relation-load.js";
import { OwnCopies, readRowsByKey, rowIdOf } from "./rows-by-key.js";

/**
 * The row that each row belongs to, null where it belongs to none.
 *
 * @throws {ReferenceMissingError} and {VersionConflictError} as `loadRelations`, where `missing` is `"refused"`.
 */
export async function loadBelongsTo(
  load: RelationLoad,
  relation: BelongsTo,
): Promise<(AnyRow | null)[]> {
  const { context, rows, link, meter, missing, shape } = load;
  const target = tableOfModel(context.tables, link.target);
  const references = rows.map((row) => referencedKey(relation.fields, row));
  const wanted = references.filter((key) => key !== undefined);
  const found = await readRowsByKey(target, wanted, meter);
  const ids = [...found.keys()];
  const shaped = await shape(target, [...found.values()]);
  const copies = new OwnCopies(new Map(ids.map((id, i) => [id, shaped[i]])));
  const loaded: (AnyRow | null)[] = [];
  for (const [i, key] of references.entries()) {
    const own = key && copies.take(rowIdOf(target, key));
    if (own === undefined && key !== undefined && missing === "refused") {
      await settleMissing(load, relation, rows[i], key);
    }
    loaded.push(own ?? null);
  }
  return loaded;
}

/** Throws where the type says that the row is there. */
async function settleMissing(
  { context, link, meter }: RelationLoad,
  { fields }: BelongsTo,
  row: AnyRow | undefined,
  targetId: readonly KvKeyPart[],
): Promise<void> {
  const { model } = context;
  const { shape } = model.schema;
  const mayLack = fields.some((field) => shape[field] !== undefined && canBeAbsent(shape[field]));
  if (mayLack || row === undefined) return;
  const primaryKey = primaryKeyOf(model, row);
  meter.add(1);
  const [now] = await readRows(context, [primaryKey]);
  const isThere = now !== undefined && now.versionstamp !== null;
  if (!isThere || !isReferenceTo(fields, now.value, targetId)) {
    // Both were there when the row was read, and it has gone with the other, or to another, since.
    throw new VersionConflictError(model.name, pointerOf(primaryKey), 1);
  }
  throw new ReferenceMissingError(model.name, {
    relation: link.name,
    fields,
    target: link.target.name,
    targetId: pointerOf(targetId),
  });
}
