import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";

/**
 * The index by which a model's rows are found by some fields: the primary key where it begins with them, else a unique
 * index, else the one with the fewest fields.
 *
 * @returns undefined where none does.
 */
export function referenceIndex(
  model: CompiledModel,
  fields: readonly string[],
): CompiledIndex | "primaryKey" | undefined {
  if (beginsWith(model.primaryKey, fields)) return "primaryKey";
  const [best] = model.indexes
    .filter((index) => holdsAll(model, index, fields))
    .sort((a, b) => Number(b.unique) - Number(a.unique) || a.fields.length - b.fields.length);
  return best;
}

/** Whether an index begins with some fields and has every row in which none of them is absent, by the values as they are. */
function holdsAll(model: CompiledModel, index: CompiledIndex, fields: readonly string[]): boolean {
  const { parts, each, normalize, where } = index;
  if (each !== undefined || normalize !== undefined || where !== undefined) return false;
  const own = parts.slice(0, fields.length);
  const further = parts.slice(fields.length);
  return (
    beginsWith(index.fields, fields) &&
    own.every((part) => part.compute === undefined && !part.descending) &&
    further.every((part) => part.compute === undefined && !model.optionalFields.has(part.field))
  );
}

function beginsWith(list: readonly string[], fields: readonly string[]): boolean {
  return fields.length > 0 && fields.every((field, position) => list[position] === field);
}
