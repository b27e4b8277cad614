import type { FoundRow } from "../../context/any-query.js";
import { copyData } from "../../context/copy-of-data.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { hasIndexKey, indexKey } from "../../indexes/index-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { primaryKeyOf } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { queriedPart } from "../../query/plan/queried-part.js";
import { findByUniqueIndex } from "../../query/read/find-unique.js";
import { indexNamed } from "./index-query.js";
import { assertUniqueValues, findRow, primaryKeyFields, primaryKeyParts } from "./table-query.js";

/** The key that identifies the row of an upsert. A row that the upsert creates must have it. */
export interface UpsertKey {
  readonly find: (meter: ReadMeter) => Promise<FoundRow | undefined>;
  /** The values that the key determines for fields of a new row. */
  readonly fields: AnyRow;
  /** @throws {InvalidArgumentError} if a new row has another key. */
  readonly assertNew: (row: AnyRow) => void;
}

/**
 * Returns the key of an upsert by primary key.
 *
 * @throws {InvalidQueryError} if no row can have one of the values.
 */
export function upsertByPrimaryKey(
  context: TableContext,
  primaryKey: readonly unknown[],
): UpsertKey {
  const { model } = context;
  const parts = primaryKeyParts(model, primaryKey);
  return {
    find: (meter) => findRow(context, primaryKey, meter),
    fields: primaryKeyFields(context, primaryKey),
    assertNew: (row) => {
      if (!isSameKey(primaryKeyOf(model, row), parts)) throwOtherKey(context, "the primary key");
    },
  };
}

/**
 * Returns the key of an upsert by a unique index.
 *
 * @throws {UnknownIndexError} if the model has no unique index of this name.
 * @throws {InvalidQueryError} if no row can have one of the values.
 */
export function upsertByIndex(
  context: TableContext,
  indexName: string,
  values: readonly unknown[],
): UpsertKey {
  const { model } = context;
  const index = indexNamed(model, indexName, true);
  assertUniqueValues(model, index, values);
  const parts = index.parts.map((_, i) => queriedPart(model, index, i, values[i]));
  const key = indexKey(index, parts, []);
  const fields = index.parts.flatMap(({ field, compute }, i) =>
    compute === undefined && index.each !== i ? [[field, values[i]] as const] : [],
  );
  return {
    find: (meter) => findByUniqueIndex(context, index, values, meter),
    fields: Object.fromEntries(fields),
    assertNew: (row) => {
      const primaryKey = primaryKeyOf(model, row);
      if (!hasIndexKey(model, index, row, primaryKey, key))
        throwOtherKey(context, `index ${indexName}`);
    },
  };
}

/** Returns the data of a new row. Fields that are absent get the values that the key determines. */
export function withFields(model: CompiledModel, data: unknown, fields: AnyRow): unknown {
  // The schema refuses data that is not an object.
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
  const row: Record<string, unknown> = { ...copyData(model, data) };
  for (const field of Object.keys(fields)) {
    // Every object inherits properties such as `constructor`, so only own properties count.
    if (!Object.hasOwn(row, field) || row[field] === undefined) row[field] = fields[field];
  }
  return row;
}

function throwOtherKey({ model }: TableContext, key: string): never {
  const reason = `the row that it makes has other values in ${key} than those that name the row`;
  throw new InvalidArgumentError(model.name, "create", reason);
}
