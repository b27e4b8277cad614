import type { KvKeyPart } from "@keywright/core";
import { primaryKeyOfEntry } from "../indexes/entry-value.js";
import { hasIndexKey, indexedPart, indexKey } from "../indexes/index-entries.js";
import { rowKey } from "../indexes/primary-key.js";
import type { AnyRow, CompiledIndex } from "../model/compiled-model.js";
import type { FoundRow } from "./any-query.js";
import type { TableContext } from "./table-context.js";

/** The row of a primary key. One read. */
export async function findByPrimaryKey(
  { kv, model }: TableContext,
  primaryKey: readonly KvKeyPart[],
): Promise<FoundRow | undefined> {
  const { value: row, versionstamp } = await kv.get<AnyRow>(rowKey(model, primaryKey));
  return row === null ? undefined : { primaryKey, row, versionstamp };
}

/**
 * The row that has these values in a unique index. Two reads: the pointer and the row, which is returned only where it
 * has the values. Where a writer came between the two, they are made again.
 *
 * @throws {IndexNotReadyError} where the index is not built.
 */
export async function findByUniqueIndex(
  context: TableContext,
  index: CompiledIndex,
  fieldValues: readonly unknown[],
): Promise<FoundRow | undefined> {
  const { kv, model, catalog } = context;
  await catalog.assertReadable(index);
  const values = index.parts.map((_, i) => indexedPart(model, index, i, fieldValues[i]));
  const key = indexKey(index, values, []);
  let pointer = await kv.get(key);
  while (pointer.versionstamp !== null) {
    const primaryKey = primaryKeyOfEntry(model, index, pointer.value);
    if (primaryKey === undefined) return undefined;
    const found = await findByPrimaryKey(context, primaryKey);
    if (found && hasIndexKey(model, index, found.row, primaryKey, key)) return found;
    const again = await kv.get(key);
    if (again.versionstamp === pointer.versionstamp) return undefined;
    pointer = again;
  }
  return undefined;
}
