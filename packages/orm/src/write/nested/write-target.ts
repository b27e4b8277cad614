import { RowNotFoundError } from "../../errors/row-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { BelongsTo } from "../../model/relations/relation-definition.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { TableContext } from "../../state/context/table-context.js";
import { referencedKey } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import {
  emptyReference,
  findExisting,
  findNamed,
  keyOf,
  referenceTo,
  removeRow,
} from "./find-related.js";
import type { NestedOperation } from "./nested-operation.js";
import type { NestedWrites } from "./nested-writes.js";
import type { RelationWrite } from "./split-data.js";

/** The effect on a row of what is written through its `belongsTo` relation. */
export interface TargetWrite {
  /** The fields of the reference with their new values. */
  readonly reference?: AnyRow;
  /** The update that empties the reference. */
  readonly emptied?: AnyRow;
  /** The row to delete as soon as the reference is empty. */
  readonly removed?: { readonly context: TableContext; readonly row: FoundRow };
}

/**
 * Writes the row that a row refers to, before that row itself.
 *
 * @param before the row before the write. Undefined if it is new.
 */
export async function writeTarget(
  writes: NestedWrites,
  context: TableContext,
  { link, operations }: RelationWrite,
  { fields }: BelongsTo,
  before: FoundRow | undefined,
): Promise<TargetWrite> {
  const [operation] = operations;
  if (operation === undefined) return {};
  const target = tableOfModel(context.tables, link.target);
  const current = () => findCurrent(writes, target, fields, before);
  const to = (row: FoundRow) => ({ reference: referenceTo(fields, target.model, row.row) });
  const { name, where = {}, create = {}, update = {} } = operation;
  const created = async () => to(await writes.create(target, createdBy(operation, create)));
  const at = <T>(run: () => Promise<T>) => writes.at(operation.path, run);
  switch (name) {
    case "create":
      return await created();
    case "connect":
      return to(await at(() => findExisting(writes, target, where)));
    case "connectOrCreate": {
      const found = await at(() => findNamed(target, where, writes.meter));
      return found === undefined ? await created() : to(found);
    }
    case "upsert":
    case "update": {
      const found = await at(current);
      if (found === undefined && name === "upsert") return await created();
      const row = await at(async () => found ?? notFound(target));
      const key = keyOf(target.model, row.row);
      const find = () => findNamed(target, key, writes.meter);
      const updatePath = name === "upsert" ? [...operation.path, "update"] : operation.path;
      await writes.update(target, find, key, { data: update, path: updatePath });
      return {};
    }
    default: {
      const emptied =
        emptyReference(context.model, fields) ??
        writes.refuse(
          operation.path,
          `${fields.join(", ")} cannot be empty; connect the row to another one`,
        );
      if (name !== "delete") return { emptied };
      const row = await at(async () => (await current()) ?? notFound(target));
      return { emptied, removed: { context: target, row } };
    }
  }
}

/** Deletes the row to which a row no longer refers. */
export async function removeTarget(
  writes: NestedWrites,
  { path }: RelationWrite,
  { removed }: TargetWrite,
): Promise<void> {
  if (removed === undefined) return;
  await writes.at([...path, "delete"], () => removeRow(writes, removed.context, removed.row));
}

async function findCurrent(
  { meter }: NestedWrites,
  target: TableContext,
  fields: readonly string[],
  before: FoundRow | undefined,
): Promise<FoundRow | undefined> {
  const row = before?.row ?? {};
  if (referencedKey(fields, row) === undefined) return undefined;
  const where = target.model.primaryKey.map((field, i) => [field, row[fields[i] ?? ""]]);
  return await findNamed(target, Object.fromEntries(where), meter);
}

function notFound({ model }: TableContext): never {
  throw new RowNotFoundError(model.name, {});
}

/** Returns the data of a new row with its place in the data of the call. */
export function createdBy(
  { name, path }: NestedOperation,
  data: AnyRow,
  reference?: AnyRow,
): { data: AnyRow; path: NestedOperation["path"]; reference?: AnyRow | undefined } {
  return { data, path: name === "create" ? path : [...path, "create"], reference };
}
