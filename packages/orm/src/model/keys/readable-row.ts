import { ModelDefinitionError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../compiled-model.js";

/** For each index with `reads`: an object whose other fields throw if they are read. */
const refusals = new WeakMap<CompiledIndex, object>();

/**
 * Returns what the functions of an index can read of a row. If the index states the fields that
 * they read, they get only these fields, so their results cannot depend on others.
 */
export function readableRow(model: CompiledModel, index: CompiledIndex, row: AnyRow): AnyRow {
  const { reads } = index;
  if (reads === undefined) return row;
  const readable = Object.create(refusalOf(model, index)) as Record<string, unknown>;
  for (const field of reads) {
    const value = Object.hasOwn(row, field) ? row[field] : undefined;
    Object.defineProperty(readable, field, { value, enumerable: value !== undefined });
  }
  return readable;
}

function refusalOf(model: CompiledModel, index: CompiledIndex): object {
  let refusal = refusals.get(index);
  if (refusal === undefined) {
    refusal = {};
    for (const field of Object.keys(model.schema.shape)) {
      const get = () => refuse(model.name, index.name, field);
      Object.defineProperty(refusal, field, { get });
    }
    refusals.set(index, refusal);
  }
  return refusal;
}

function refuse(model: string, index: string, field: string): never {
  const reason = `a function of the index reads ${JSON.stringify(field)}; add this field to reads`;
  throw new ModelDefinitionError(model, `indexes.${index}.reads`, reason);
}
