import type { KvKey } from "@keywright/core";
import type { RowId } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";
import type { Row } from "../protocol/rows.js";
import { fieldKind } from "./field-kind.js";

/** Returns the primary key as an object, by the id that errors and reports have. */
export function keyOfId(model: CompiledModel, id: RowId): Row {
  const parts = Array.isArray(id) ? (id as KvKey) : [id as KvKey[number]];
  return keyOfParts(model, parts);
}

/** Returns the primary key as an object, by the parts of its key. Dates are stored as numbers. */
export function keyOfParts({ primaryKey, schema }: CompiledModel, parts: KvKey): Row {
  return Object.fromEntries(
    primaryKey.map((field, i) => {
      const part = parts[i];
      const isDate = fieldKind(schema.shape[field]!).kind === "date";
      return [field, isDate && typeof part === "number" ? new Date(part) : part];
    }),
  );
}
