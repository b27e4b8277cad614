import type { CompiledIndex, CompiledModel } from "../../../model/compiled-model.js";
import { functionFields } from "../functions/function-fields.js";
import { functionSource } from "../functions/function-source.js";
import type { RowManifest } from "../manifests/manifest.js";
import { otherFields } from "../manifests/row-manifest.js";

/** What a change of rows may do to their fields. */
export interface FieldChanges {
  /** The fields that may have another value afterwards. */
  readonly fields: readonly string[];
  /** The fields that are new. */
  readonly added: readonly string[];
}

/** @param from the manifest of the rows before the change. */
export function fieldChanges(from: RowManifest, fields: readonly string[]): FieldChanges {
  const known = { ...from.left, ...from.fields };
  const isAdded = (field: string) => !Object.hasOwn(known, field);
  const distinct = [...new Set(fields)];
  return {
    fields: distinct,
    added: Object.hasOwn(known, otherFields) ? [] : distinct.filter(isAdded),
  };
}

/**
 * Returns the indexes that may not match the changed rows before a change has reached every row:
 * those whose keys depend on a field that may get another value. Indexes whose entries only store
 * changed fields are not among them. Their entries are written with the rows, and until then the
 * rows are read instead.
 *
 * An index depends on the fields of its key, of its `where`, and of its `reads`. Without `reads`,
 * the source of its functions shows the fields. If a function uses the row as a whole, the index
 * depends on every field that rows had before the change, and on added fields that occur in the
 * source. If the index states a version, earlier versions of its functions are not known, so it
 * depends on every field.
 */
export function affectedIndexes(
  model: CompiledModel,
  changes: readonly FieldChanges[],
): CompiledIndex[] {
  if (changes.every(({ fields }) => fields.length === 0)) return [];
  return model.indexes.filter((index) => {
    const dependsOn = dependencyOf(index);
    return changes.some((change) => change.fields.some((field) => dependsOn(field, change)));
  });
}

type Dependency = (field: string, change: FieldChanges) => boolean;

function dependencyOf(index: CompiledIndex): Dependency {
  const { keyFields, version, parts, condition, unmarked } = index;
  if (keyFields !== undefined) return (field) => keyFields.has(field);
  if (version !== undefined) return () => true;
  const functions = rowFunctions(index);
  const fields = new Set([
    ...parts.filter(({ compute }) => compute === undefined).map(({ field }) => field),
    ...Object.keys(condition ?? {}),
    ...(unmarked === undefined ? [] : [unmarked]),
  ]);
  const sources: string[] = [];
  for (const fn of functions) {
    const read = functionFields(fn);
    if (read === undefined) sources.push(functionSource(fn));
    else for (const field of read) fields.add(field);
  }
  const mayRead = (field: string, { added }: FieldChanges) =>
    !added.includes(field) || sources.some((source) => source.includes(field));
  return (field, change) => fields.has(field) || (sources.length > 0 && mayRead(field, change));
}

/**
 * True if a program can compute the entries that rows of an earlier schema have: the functions that
 * made them were the same. With a version they may have had another source. A function that uses
 * the row as a whole may call others, which may only know the rows of the new schema.
 */
export function computesEarlierEntries(index: CompiledIndex): boolean {
  const functions = rowFunctions(index);
  if (index.version === undefined) return functions.every((fn) => functionFields(fn) !== undefined);
  return functions.length === 0 && index.parts.every(isNormalizedByData);
}

function isNormalizedByData({ normalize, normalizers }: CompiledIndex["parts"][number]): boolean {
  return normalize === undefined || normalizers !== undefined;
}

/** Returns the functions of an index that get the row. */
function rowFunctions({ parts, where, condition }: CompiledIndex): RowFunction[] {
  const computed = parts.flatMap(({ compute }) => compute ?? []);
  return where === undefined || condition !== undefined ? computed : [...computed, where];
}

type RowFunction = NonNullable<CompiledIndex["where"] | CompiledIndex["parts"][number]["compute"]>;
