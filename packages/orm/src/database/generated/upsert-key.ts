import { copyData } from "../../context/copy-of-data.js";
import type { TableContext } from "../../context/table-context.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { hasIndexKey } from "../../indexes/index-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { primaryKeyOf } from "../../indexes/primary-key.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { planUnique, primaryKeyIn, uniqueValues } from "../../query/plan/plan-unique.js";
import { queriedKey } from "../../query/plan/queried-part.js";
import type { CallOptions } from "../call-options.js";
import { whereOf } from "../parse-options.js";

/** The key that identifies the row of an upsert. */
interface UpsertKey {
  /** The fields of the key whose values a new row gets if it has none. */
  readonly fields: readonly string[];
  /** True if a new row has the key. */
  readonly isKeyOf: (row: AnyRow) => boolean;
  /** The key in errors. */
  readonly label: string;
}

/**
 * Returns the options of an upsert that creates only a row with the key in `where`. The fields of
 * the key are filled in where `create` has none.
 *
 * @throws {UnknownIndexError} if the model has no unique index of the name.
 * @throws {InvalidQueryError} if no row can have one of the values.
 */
export function withUpsertKey(context: TableContext, options: CallOptions): CallOptions {
  const { model } = context;
  const where = whereOf(context, options);
  const { fields, isKeyOf, label } = upsertKeyOf(model, where, options.index);
  const assertNew = (row: AnyRow): void => {
    if (isKeyOf(row)) return;
    const reason = `the row that it makes has other values in ${label} than those that name the row`;
    throw new InvalidArgumentError(model.name, "create", reason);
  };
  return { ...options, create: fillIn(model, options.create, fields, where), assertNew };
}

function upsertKeyOf(
  model: CompiledModel,
  where: AnyRow,
  indexName: string | undefined,
): UpsertKey {
  const [index] = planUnique(model, where, indexName);
  if (index === undefined || index === "primaryKey") {
    const parts = primaryKeyIn(model, where);
    return {
      fields: model.primaryKey,
      isKeyOf: (row) => isSameKey(primaryKeyOf(model, row), parts),
      label: "the primary key",
    };
  }
  const key = queriedKey(model, index, uniqueValues(model, index, where));
  const held = index.parts.filter((part, i) => part.compute === undefined && index.each !== i);
  return {
    fields: held.map(({ field }) => field),
    isKeyOf: (row) => hasIndexKey(model, index, row, primaryKeyOf(model, row), key),
    label: `index ${index.name}`,
  };
}

/** Returns the data of a new row. Fields that are absent get the values that the key determines. */
function fillIn(
  model: CompiledModel,
  data: unknown,
  fields: readonly string[],
  values: AnyRow,
): unknown {
  // The schema refuses data that is not an object.
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
  const row: Record<string, unknown> = { ...copyData(model, data) };
  for (const field of fields) {
    // Every object inherits properties such as `constructor`, so only own properties count.
    if (!Object.hasOwn(row, field) || row[field] === undefined) row[field] = values[field];
  }
  return row;
}
