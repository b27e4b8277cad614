import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { hasIndexKey } from "../../model/keys/index-entries.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { primaryKeyOf } from "../../model/keys/primary-key.js";
import { copyData } from "../../model/rows/copy-of-data.js";
import { queriedKey } from "../../read/plan/fields/queried-value.js";
import { planUnique, primaryKeyIn, uniqueValues } from "../../read/plan/plan-unique.js";

/** The key of an upsert that creates only rows with this key. */
export interface UpsertKey {
  /**
   * Returns the data of the new row. Fields that it lacks get the values that the key determines.
   */
  readonly fillIn: (data: unknown) => unknown;
  /** @throws {InvalidArgumentError} if a new row has another key. */
  readonly assertNew: (row: AnyRow) => void;
}

/**
 * Returns the key that the `where` of an upsert names: the primary key, or that of a unique index.
 *
 * @throws {UnknownIndexError} if the model has no unique index of the name.
 * @throws {InvalidQueryError} if no row can have one of the values.
 */
export function upsertKeyOf(
  model: CompiledModel,
  where: AnyRow,
  indexName: string | undefined,
): UpsertKey {
  const [index = "primaryKey"] = planUnique(model, where, indexName);
  if (index === "primaryKey") {
    const key = primaryKeyIn(model, where);
    const hasKey = (row: AnyRow) => isSameKey(primaryKeyOf(model, row), key);
    return upsertKey(model, where, model.primaryKey, hasKey, "the primary key");
  }
  const key = queriedKey(model, index, uniqueValues(model, index, where));
  const hasKey = (row: AnyRow) => hasIndexKey(model, index, row, primaryKeyOf(model, row), key);
  const stored = index.parts.filter((part, i) => part.compute === undefined && index.each !== i);
  const fields = stored.map(({ field }) => field);
  return upsertKey(model, where, fields, hasKey, `index ${index.name}`);
}

/** @param fields the fields of the key whose values a new row gets if it has none. */
function upsertKey(
  model: CompiledModel,
  where: AnyRow,
  fields: readonly string[],
  hasKey: (row: AnyRow) => boolean,
  label: string,
): UpsertKey {
  return {
    fillIn: (data) => {
      // The schema refuses data that is not an object.
      if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
      const row: Record<string, unknown> = { ...copyData(model, data) };
      for (const field of fields) {
        // Every object inherits properties such as `constructor`, so only own properties count.
        if (!Object.hasOwn(row, field) || row[field] === undefined) row[field] = where[field];
      }
      return row;
    },
    assertNew: (row) => {
      if (hasKey(row)) return;
      const reason = `the new row would have other values in ${label} than the upsert names`;
      throw new InvalidArgumentError(model.name, "create", reason);
    },
  };
}
