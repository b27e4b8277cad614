import { denoOrder, specificationOrder } from "@keywright/core";
import type { CompiledIndex, CompiledModel, CompiledPart } from "../../../model/compiled-model.js";
import { canBeInKey, canHoldElements } from "../../../model/fields/key-kinds.js";
import { matchesCondition } from "../../../model/indexes/compile-condition.js";
import {
  areNormalizers,
  composeNormalizers,
  type Normalizer,
} from "../../../model/indexes/normalizers.js";
import { analyzerVersion } from "../../../text/analyzer.js";
import { isLanguage } from "../../../text/languages.js";
import type { TextIndexDefinition } from "../../../text/text-definition.js";
import { canonicalJson, hashOf } from "./hash.js";
import { isSameCode, usesFunctions } from "./index-code.js";
import { indexManifest } from "./index-manifest.js";
import type { IndexManifest, IndexTraits, RowManifest, TextTraits } from "./manifest.js";

/**
 * Compiles an earlier definition of an index from its manifest. It has the name of the index.
 * Functions are not stored, so a definition with functions can only be compiled if the index still
 * has the same ones.
 *
 * @param index the index as the model declares it.
 * @returns undefined if entries of the earlier definition cannot be computed.
 */
export function compileStoredIndex(
  model: CompiledModel,
  index: CompiledIndex,
  stored: IndexManifest,
): CompiledIndex | undefined {
  const hasFunctions = isMadeByFunctions(stored);
  if (hasFunctions && !hasSameFunctions(index, stored)) return undefined;
  const { each, value } = stored.traits ?? {};
  const plain = stored.fields.filter(
    (field) => !index.parts.some((part) => part.field === field && part.compute && hasFunctions),
  );
  const include = Array.isArray(value) ? (value as readonly string[]) : [];
  const { shape } = model.schema;
  const isField = (field: string) => Object.hasOwn(shape, field);
  if (![...plain, ...include, ...conditionFields(stored)].every(isField)) return undefined;
  const canHold = (field: string) =>
    field === each ? canHoldElements(shape[field]!) : canBeInKey(shape[field]!);
  if (!plain.every(canHold)) return undefined;
  return compileDefinition(index.name, stored, index);
}

/** True if functions of a program determine the entries of an index. */
export function isMadeByFunctions(stored: IndexManifest): boolean {
  return stored.functions !== undefined || usesFunctions(stored);
}

function conditionFields({ traits: { where = {}, text, unmarked } = {} }: IndexManifest): string[] {
  return [
    ...Object.keys(where),
    ...(text?.fields ?? []),
    ...(unmarked === undefined ? [] : [unmarked]),
  ];
}

/**
 * Returns the fields that a definition without functions needs: those of its key, of its condition
 * and of its entries.
 */
function fieldsOfDefinition(stored: IndexManifest): string[] {
  const { value } = stored.traits ?? {};
  const include = Array.isArray(value) ? (value as readonly string[]) : [];
  return [...new Set([...stored.fields, ...conditionFields(stored), ...include])];
}

type Fields = RowManifest["fields"];

/**
 * True if a program that does not declare an index can maintain it: its definition is data, and the
 * program and the database have the same fields, or only the database has a field that rows may
 * lack. Rows of the program then lack it, and rows of other programs keep it.
 */
export function isMaintainedByData(
  index: IndexManifest,
  ofProgram: Fields,
  ofDatabase: Fields,
): boolean {
  if (isMadeByFunctions(index)) return false;
  return fieldsOfDefinition(index).every((field) => {
    if (!Object.hasOwn(ofDatabase, field)) return false;
    return Object.hasOwn(ofProgram, field)
      ? isSameField(field, ofProgram, ofDatabase)
      : ofDatabase[field]!.optional;
  });
}

export function isSameField(field: string, a: Fields, b: Fields): boolean {
  if (!Object.hasOwn(a, field) || !Object.hasOwn(b, field)) return false;
  return canonicalJson(a[field]) === canonicalJson(b[field]);
}

/**
 * Compiles a definition from its manifest, whatever the fields of the model are.
 *
 * @param index the index of the program whose functions the definition has. Undefined if it has
 * none.
 * @returns undefined if it names normalizers that this version does not have.
 */
export function compileDefinition(
  name: string,
  stored: IndexManifest,
  index?: CompiledIndex,
): CompiledIndex | undefined {
  const { traits = {} } = stored;
  const hasFunctions = isMadeByFunctions(stored);
  const { where: condition, each, value } = traits;
  const descendingOrder = traits.descendingOrder === "deno" ? denoOrder : specificationOrder;
  const normalizers = knownNormalizers(traits);
  const text = traits.text && compileText(stored, traits.text, index);
  if (normalizers === undefined || (traits.text && text === undefined)) return undefined;
  const parts = stored.fields.map((field): CompiledPart => {
    const declared = hasFunctions ? index?.parts.find((part) => part.field === field) : undefined;
    const names = normalizers.get(field);
    const { compute, normalize } =
      names === undefined
        ? (declared ?? { compute: undefined, normalize: undefined })
        : { compute: undefined, normalize: composeNormalizers(names) };
    const descending = traits.descending?.includes(field) ?? false;
    return { field, descending, descendingOrder, compute, normalize, normalizers: names };
  });
  const include = Array.isArray(value) ? (value as readonly string[]) : [];
  const plain = parts.filter(({ compute }) => compute === undefined).map(({ field }) => field);
  const fields = [...plain, ...conditionFields(stored)];
  const isPartial = hasFunctions && traits.partial === true;
  const readsRow = isPartial || parts.some(({ compute }) => compute !== undefined);
  const reads = readsRow ? index?.reads : undefined;
  return {
    name,
    prefix: stored.prefix,
    place: stored.prefix,
    parts,
    fields: stored.fields,
    unique: stored.unique,
    each: each === undefined ? undefined : stored.fields.indexOf(each),
    where: condition
      ? (row) => matchesCondition(condition, row)
      : isPartial
        ? index?.where
        : undefined,
    condition,
    reads,
    keyFields: readsRow && reads === undefined ? undefined : new Set([...fields, ...(reads ?? [])]),
    store: value === "copy" ? "copy" : value === undefined ? "pointer" : "include",
    include,
    declaredInclude: include,
    inKey: new Map(),
    counted: false,
    sums: [],
    ranked: false,
    extremes: new Map(),
    isHidden: text !== undefined || (index?.text === undefined && (index?.isHidden ?? false)),
    unmarked: traits.unmarked,
    version: readsRow ? index?.version : undefined,
    text,
  };
}

/** Returns undefined if this version cuts texts by other rules, or lacks the language. */
function compileText(
  { fields: key }: IndexManifest,
  { fields, version, language, foldsMarks, stopWords = [] }: TextTraits,
  index: CompiledIndex | undefined,
): TextIndexDefinition | undefined {
  if (version !== analyzerVersion) return undefined;
  if (language !== undefined && !isLanguage(language)) return undefined;
  const weightOf = (field: string) =>
    index?.text?.fields.find((one) => one.field === field)?.weight ?? 1;
  return {
    fields: fields.map((field) => ({ field, weight: weightOf(field) })),
    key,
    analyzer: { version, language, foldsMarks, stopWords },
  };
}

/** Returns the normalizers by field. Undefined if a later version of Keywright has named others. */
function knownNormalizers({
  normalizers = {},
}: IndexTraits): ReadonlyMap<string, readonly Normalizer[]> | undefined {
  const known = new Map<string, readonly Normalizer[]>();
  for (const [field, names] of Object.entries(normalizers)) {
    if (!areNormalizers(names)) return undefined;
    known.set(field, names);
  }
  return known;
}

function hasSameFunctions(index: CompiledIndex, stored: IndexManifest): boolean {
  const now = indexManifest(index);
  return (
    stored.functions !== undefined &&
    isSameCode(stored, now) &&
    hashOf(functionTraits(stored)) === hashOf(functionTraits(now))
  );
}

/** The properties of an index that functions of the model determine. */
function functionTraits({ fields, normalized, traits = {} }: IndexManifest): readonly unknown[] {
  const { normalized: names = null, partial = null, computed = null } = traits;
  return [fields, normalized, names, partial, computed];
}
