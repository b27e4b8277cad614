import type { z } from "zod";
import type { CompiledIndex, CompiledPart } from "../compiled-model.js";
import { isSameInKey } from "../fields/key-kinds.js";
import { defaultIndexPrefix } from "../indexes/index-prefix.js";
import { hiddenIndex } from "../indexes/plain-index.js";

/**
 * Returns the index that has the rows of each group of an index in the order of a field, so that
 * its first and last entries of a group are the smallest and the largest value. This is a declared
 * index if the model has a suitable one, otherwise a new one.
 *
 * @param index undefined for one group with all rows.
 */
export function extremeIndex(
  prefix: string,
  schema: z.ZodObject,
  index: CompiledIndex | undefined,
  part: CompiledPart,
  declared: readonly CompiledIndex[],
): CompiledIndex {
  const { field } = part;
  const found = declared.find((other) => isSuitable(other, index, field));
  if (found !== undefined) return found;
  const parts = [...(index?.parts ?? []), part];
  const place = index === undefined ? `${prefix}_all` : index.prefix;
  const ownPrefix = defaultIndexPrefix(place, `by${field[0]!.toUpperCase()}${field.slice(1)}`);
  const inKey = new Map(index?.inKey);
  const type = schema.shape[field];
  if (type !== undefined && isSameInKey(type)) inKey.set(field, parts.length);
  const fields = parts.map((one) => one.field);
  return hiddenIndex(`${index?.name ?? "all"}.${field}`, ownPrefix, fields, {
    parts,
    inKey,
    ...(index !== undefined && {
      each: index.each,
      where: index.where,
      condition: index.condition,
      reads: index.reads,
      keyFields: index.keyFields && new Set([...index.keyFields, field]),
      version: index.version,
    }),
  });
}

function isSuitable(
  other: CompiledIndex,
  index: CompiledIndex | undefined,
  field: string,
): boolean {
  const leading = index?.parts ?? [];
  const hasFunctions = [...other.parts, ...leading].some(
    ({ compute, normalize }) => compute !== undefined || normalize !== undefined,
  );
  return (
    !hasFunctions &&
    [other, index].every((one) => one?.where === undefined && one?.each === undefined) &&
    other.parts.length === leading.length + 1 &&
    other.parts.at(-1)?.field === field &&
    leading.every((one, position) => {
      const same = other.parts[position];
      return one.field === same?.field && one.descending === same.descending;
    })
  );
}
