import type { CompiledIndex, CompiledModel, CompiledPart } from "../model/compiled-model.js";

const ofModels = new WeakMap<CompiledModel, Map<readonly string[], readonly CompiledIndex[]>>();

/**
 * The index by which a model's rows are found by some fields: the primary key where it begins with them, else the best of
 * {@link referenceIndexes}.
 *
 * @returns undefined where none does.
 */
export function referenceIndex(
  model: CompiledModel,
  fields: readonly string[],
): CompiledIndex | "primaryKey" | undefined {
  if (beginsWith(model.primaryKey, fields)) return "primaryKey";
  return referenceIndexes(model, fields)[0];
}

/**
 * The indexes by which a model's rows can be found by some fields, best first: unique ones, then those with fewer fields. Another
 * than the best is the one to read as long as that is not built, or where it has taken its place.
 */
export function referenceIndexes(
  model: CompiledModel,
  fields: readonly string[],
): readonly CompiledIndex[] {
  let ofModel = ofModels.get(model);
  if (ofModel === undefined) {
    ofModel = new Map();
    ofModels.set(model, ofModel);
  }
  let indexes = ofModel.get(fields);
  if (indexes === undefined) {
    indexes = model.indexes
      .filter((index) => holdsAll(model, index, fields))
      .sort((a, b) => Number(b.unique) - Number(a.unique) || a.fields.length - b.fields.length);
    ofModel.set(fields, indexes);
  }
  return indexes;
}

/** Whether an index begins with some fields and has every row in which none of them is absent, by the values as they are. */
function holdsAll(model: CompiledModel, index: CompiledIndex, fields: readonly string[]): boolean {
  const { parts, each, where } = index;
  if (each !== undefined || where !== undefined) return false;
  const own = parts.slice(0, fields.length);
  const further = parts.slice(fields.length);
  return (
    beginsWith(index.fields, fields) &&
    own.every(isAsStored) &&
    further.every((part) => part.compute === undefined && !model.optionalFields.has(part.field))
  );
}

/** Whether a part of a key is the value of its field. */
function isAsStored({ compute, normalize, descending }: CompiledPart): boolean {
  return compute === undefined && normalize === undefined && !descending;
}

function beginsWith(list: readonly string[], fields: readonly string[]): boolean {
  return fields.length > 0 && fields.every((field, position) => list[position] === field);
}
