import type { FoundRow } from "../../context/any-query.js";
import { copyOfData } from "../../context/copy-of-data.js";
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
import { assertUniqueValues, findRow, primaryKeyParts, whereOf } from "./table-query.js";

/** What an upsert names a row by, which a row that it creates has to have. */
export interface UpsertKey {
  readonly find: (meter: ReadMeter) => Promise<FoundRow | undefined>;
  /** What fields of a new row have to be. */
  readonly fields: AnyRow;
  /** @throws {InvalidArgumentError} for a new row that has another key. */
  readonly assertNew: (row: AnyRow) => void;
}

/** @throws {InvalidQueryError} for a value that none of the rows can have. */
export function upsertByPrimaryKey(
  context: TableContext,
  primaryKey: readonly unknown[],
): UpsertKey {
  const { model } = context;
  const parts = primaryKeyParts(model, primaryKey);
  return {
    find: (meter) => findRow(context, primaryKey, meter),
    fields: whereOf(context, primaryKey),
    assertNew: (row) => {
      if (!isSameKey(primaryKeyOf(model, row), parts)) refuse(context, "the primary key");
    },
  };
}

/**
 * The same, by a unique index.
 *
 * @throws {UnknownIndexError} for a name that is no unique index's.
 * @throws {InvalidQueryError} for a value that none of the rows can have.
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
      if (!hasIndexKey(model, index, row, primaryKey, key)) refuse(context, `index ${indexName}`);
    },
  };
}

/** What a row is created from, with the fields that it leaves out and that its key tells. */
export function withFields(model: CompiledModel, data: unknown, fields: AnyRow): unknown {
  // What is no object the schema refuses.
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
  const whole: Record<string, unknown> = { ...copyOfData(model, data) };
  for (const field of Object.keys(fields)) {
    // Objects have properties from their prototype, such as `constructor`.
    if (!Object.hasOwn(whole, field) || whole[field] === undefined) whole[field] = fields[field];
  }
  return whole;
}

function refuse({ model }: TableContext, key: string): never {
  const reason = `the row that it makes has other values in ${key} than those that name the row`;
  throw new InvalidArgumentError(model.name, "create", reason);
}
