import type { CompiledIndex, CompiledModel, CompiledPart } from "../../model/compiled-model.js";
import { leavesOutMore } from "../../model/options/soft-delete.js";

const indexesByModel = new WeakMap<
  CompiledModel,
  Map<readonly string[], readonly CompiledIndex[]>
>();

/** Returns the best index that finds a model's rows by some fields, undefined if there is none. */
export function referenceIndex(
  model: CompiledModel,
  fields: readonly string[],
): CompiledIndex | "primaryKey" | undefined {
  if (beginsWith(model.primaryKey, fields)) return "primaryKey";
  return referenceIndexes(model, fields)[0];
}

/**
 * Returns the indexes that find a model's rows by some fields, best first: unique indexes, then
 * those with fewer fields. The others are used while the best one cannot be read, because it is not
 * built yet or has been replaced.
 */
export function referenceIndexes(
  model: CompiledModel,
  fields: readonly string[],
): readonly CompiledIndex[] {
  let indexesByFields = indexesByModel.get(model);
  if (indexesByFields === undefined) {
    indexesByFields = new Map();
    indexesByModel.set(model, indexesByFields);
  }
  let indexes = indexesByFields.get(fields);
  if (indexes === undefined) {
    indexes = model.indexes
      .filter((index) => !index.isHidden && holdsAll(model, index, fields))
      .sort((a, b) => Number(b.unique) - Number(a.unique) || a.fields.length - b.fields.length);
    indexesByFields.set(fields, indexes);
  }
  return indexes;
}

/**
 * True if an index begins with some fields, holds their stored values, and has an entry for every
 * row in which none of these fields is absent.
 */
function holdsAll(model: CompiledModel, index: CompiledIndex, fields: readonly string[]): boolean {
  const { parts, each, where } = index;
  if (each !== undefined || where !== undefined || leavesOutMore(model, index)) return false;
  const leading = parts.slice(0, fields.length);
  const trailing = parts.slice(fields.length);
  return (
    beginsWith(index.fields, fields) &&
    leading.every(isAsStored) &&
    trailing.every((part) => part.compute === undefined && !model.optionalFields.has(part.field))
  );
}

/** True if a key part is the stored value of its field. */
function isAsStored({ compute, normalize, descending }: CompiledPart): boolean {
  return compute === undefined && normalize === undefined && !descending;
}

function beginsWith(list: readonly string[], fields: readonly string[]): boolean {
  return fields.length > 0 && fields.every((field, position) => list[position] === field);
}
