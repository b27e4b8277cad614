import { knownNames } from "../../errors/nearest-name.js";
import type { CompiledPart } from "../compiled-model.js";
import { holdsStrings } from "../fields/key-kinds.js";
import type { Model } from "../model.js";
import type { AnyIndexDefinition } from "./index-definition.js";
import { areNormalizers, composeNormalizers, normalizerNames } from "./normalizers.js";

type Fail = (reason: string) => never;

/** Adds the normalizers of an index's definition to the parts of its key. */
export function withNormalizers(
  model: Model,
  parts: readonly CompiledPart[],
  { normalize, each = false }: AnyIndexDefinition,
  fail: Fail,
): readonly CompiledPart[] {
  if (normalize === undefined) return parts;
  const byField = normalizersByField(parts, normalize, fail);
  for (const [field] of byField) {
    const part = parts.find((candidate) => candidate.field === field);
    if (part === undefined) {
      const fields = parts.map((candidate) => candidate.field);
      fail(`the key has no field ${JSON.stringify(field)}; ${knownNames(field, fields, "fields")}`);
    }
    if (part?.compute) fail("the function that computes a part must also normalize it");
  }
  return parts.map((part) => {
    const given = byField.get(part.field);
    return given === undefined
      ? part
      : { ...part, ...normalizerOf(model, part, given, each, fail) };
  });
}

function normalizersByField(
  parts: readonly CompiledPart[],
  normalize: unknown,
  fail: Fail,
): ReadonlyMap<string, unknown> {
  const isSingle = typeof normalize !== "object" || Array.isArray(normalize);
  if (normalize === null) fail(expected);
  if (!isSingle)
    return new Map(Object.entries(normalize as object).filter(([, one]) => one !== undefined));
  if (parts.length > 1)
    fail('an index over several fields names each that is normalized: { email: "lowercase" }');
  return new Map([[parts[0]!.field, normalize]]);
}

const expected = `it must be one of ${normalizerNames.map((name) => JSON.stringify(name)).join(", ")}, a list of these, a function, or an object of these by field`;

function normalizerOf(
  { schema }: Model,
  { field }: CompiledPart,
  given: unknown,
  each: boolean,
  fail: Fail,
): Pick<CompiledPart, "normalize" | "normalizers"> {
  if (typeof given === "function")
    return { normalize: given as CompiledPart["normalize"], normalizers: undefined };
  const names: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (names.length === 0) fail("the list is empty; leave out normalize");
  const unknown = names.find((name) => !areNormalizers([name]));
  if (typeof unknown === "string")
    fail(
      `there is no normalizer ${JSON.stringify(unknown)}; ${knownNames(unknown, normalizerNames, "normalizers")}`,
    );
  if (!areNormalizers(names)) return fail(expected);
  const type = Object.hasOwn(schema.shape, field) ? schema.shape[field] : undefined;
  if (type !== undefined && !holdsStrings(type, each))
    fail(
      `${JSON.stringify(names[0])} needs strings, but the field ${JSON.stringify(field)} can have other values; use a function`,
    );
  return { normalize: composeNormalizers(names), normalizers: names };
}
