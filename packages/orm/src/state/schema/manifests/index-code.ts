import type { CompiledIndex } from "../../../model/compiled-model.js";
import { canonicalSource } from "../functions/canonical-source.js";
import { functionSource } from "../functions/function-source.js";
import { canonicalJson, hashOf } from "./hash.js";
import type { IndexCode, IndexFunctions, IndexManifest } from "./manifest.js";

/** Longer texts are stored as their beginning and a hash. */
const maxTextLength = 1000;

/**
 * Describes the functions of an index: by the version that it states, or by a hash of their source,
 * which earlier releases compare, and their canonical text.
 */
export function functionsOf({ parts, version, ...index }: CompiledIndex): IndexFunctions {
  const where = index.condition === undefined ? index.where : undefined;
  const computed = parts.map((part) => part.compute);
  const normalized = parts.map((part) => (part.normalizers ? undefined : part.normalize));
  const functions = inStoredOrder(where, computed, normalized);
  if (functions.every((fn) => fn === undefined)) return {};
  if (version !== undefined) return { functions: `version ${version}` };
  const key = computed.find((fn) => fn !== undefined);
  const byField = parts.flatMap(({ field }, i) => {
    const normalize = normalized[i];
    return normalize === undefined ? [] : [[field, textOf(normalize)] as const];
  });
  return {
    functions: hashOf(functions.map((fn) => (fn === undefined ? null : functionSource(fn)))),
    code: {
      ...(where !== undefined && { where: textOf(where) }),
      ...(key !== undefined && { key: textOf(key) }),
      ...(byField.length > 0 && { normalize: Object.fromEntries(byField) }),
    },
  };
}

/**
 * Returns the functions in the order in which databases store their hash. In an index with one
 * part, its `normalize` comes first.
 */
function inStoredOrder<T>(
  where: T | undefined,
  computed: readonly (T | undefined)[],
  normalized: readonly (T | undefined)[],
): readonly (T | undefined)[] {
  if (normalized.length === 1) return [...normalized, where, ...computed];
  return [undefined, where, ...computed, ...(normalized.some(Boolean) ? normalized : [])];
}

function textOf(fn: (value: never) => unknown): string {
  const text = canonicalSource(fn);
  if (text.length <= maxTextLength) return text;
  return `${text.slice(0, maxTextLength / 5)}… ${hashOf(text)}`;
}

const calls: Readonly<Record<string, string>> = {
  lowercase: "toLowerCase()",
  uppercase: "toUpperCase()",
  trim: "trim()",
  nfc: 'normalize("NFC")',
};

/** Returns what the normalizers of these names do to a value, as a source. */
function callsOf(value: string, names: readonly string[]): string {
  return [value, ...names.map((name) => calls[name] ?? name)].join(".");
}

/** Returns the code of an index, with that of the normalizers that are declared by name. */
export function codeOf({ code, traits }: IndexManifest): IndexCode {
  const named = Object.entries(traits?.normalizers ?? {}).map(
    ([field, names]) => [field, `a => ${callsOf("a", names)}`] as const,
  );
  if (named.length === 0) return code ?? {};
  return { ...code, normalize: { ...code?.normalize, ...Object.fromEntries(named) } };
}

/** True if the functions of two definitions of an index return the same, as far as is known. */
export function isSameCode(a: IndexManifest, b: IndexManifest): boolean {
  if (a === b || hasSameForm(a, b)) return true;
  if (a.sameFunctions === undefined && b.sameFunctions === undefined) return false;
  return formsOf(a).some((one) => formsOf(b).some((two) => hasSameForm(one, two)));
}

function formsOf(manifest: IndexManifest): IndexManifest[] {
  const { functions: _, code: __, sameFunctions = [], ...data } = manifest;
  return [manifest, ...sameFunctions.map((form) => ({ ...data, ...form }))];
}

function hasSameForm(a: IndexManifest, b: IndexManifest): boolean {
  if (a.functions === b.functions && hasSameNormalizers(a, b)) return true;
  // The code of entries that were written by hand is unknown, so it counts as the same.
  if (isUnknown(a) || isUnknown(b)) return true;
  if (isVersion(a) || isVersion(b)) return false;
  if (isEarlierForm(a)) return isEarlierFormOf(a, b);
  if (isEarlierForm(b)) return isEarlierFormOf(b, a);
  return canonicalJson(codeOf(a)) === canonicalJson(codeOf(b));
}

function hasSameNormalizers({ traits: a }: IndexManifest, { traits: b }: IndexManifest): boolean {
  const isNamed = a?.normalizers !== undefined || b?.normalizers !== undefined;
  return !isNamed || canonicalJson([a?.normalizers]) === canonicalJson([b?.normalizers]);
}

function isVersion({ functions }: IndexManifest): boolean {
  return functions?.startsWith("version ") ?? false;
}

/** True if functions determine the entries, and nothing is stored about them. */
function isUnknown(manifest: IndexManifest): boolean {
  return manifest.functions === undefined && usesFunctions(manifest);
}

/** True if a definition of an earlier release has a hash of the functions only. */
function isEarlierForm({ functions, code }: IndexManifest): boolean {
  return functions !== undefined && code === undefined;
}

/** True if functions of the model determine the entries of an index. */
export function usesFunctions({ fields, normalized, traits = {} }: IndexManifest): boolean {
  const normalizedFields = traits.normalized ?? (normalized ? fields : []);
  const hasNormalizer = normalizedFields.some(
    (field) => !Object.hasOwn(traits.normalizers ?? {}, field),
  );
  return hasNormalizer || traits.partial === true || traits.computed === true;
}

/** The usual names of the parameter of a function that normalizes. The field's name is another. */
const parameterNames = ["value", "text", "string", "str", ..."abcdefghijklmnopqrstuvwxyz_$"];

/**
 * True if the functions of an earlier release, of which only a hash is stored, are a usual form of
 * the normalizers that a definition names. This is the case for an index that was built with
 * `(email) => email.toLowerCase()` and has `"lowercase"` now.
 */
function isEarlierFormOf({ functions }: IndexManifest, named: IndexManifest): boolean {
  const { fields, traits } = named;
  const normalizers = traits?.normalizers;
  if (normalizers === undefined || named.functions !== undefined) return false;
  const sources = (print: (parameter: string, result: string) => string, name?: string) =>
    fields.map((field) => {
      const names = Object.hasOwn(normalizers, field) ? normalizers[field] : undefined;
      const parameter = name ?? field;
      return names && print(parameter, callsOf(parameter, names));
    });
  const forms = [
    (parameter: string, result: string) => `${parameter}=>${result}`,
    (parameter: string, result: string) => `${parameter}=>{return ${result};}`,
    (parameter: string, result: string) => `${parameter}=>{return ${result}}`,
  ];
  const none = fields.map(() => undefined);
  const matches = (normalized: readonly (string | undefined)[]) =>
    hashOf(inStoredOrder(undefined, none, normalized).map((one) => one ?? null)) === functions;
  return forms.some((print) =>
    [undefined, ...parameterNames].some((name) => matches(sources(print, name))),
  );
}
