import * as z from "zod";
import { classValue } from "./class-value.js";
import {
  arrayValue,
  mapValue,
  objectValue,
  recordValue,
  setValue,
  tupleValue,
} from "./collection-values.js";
import { dateValue } from "./date-value.js";
import { bigintValue, numberValue } from "./number-value.js";
import { patternText } from "./pattern-text.js";
import {
  checksOf,
  type Definition,
  definitionOf,
  isDeep,
  type Place,
  type Schema,
} from "./place.js";
import { textValue } from "./text-value.js";
import { UnfillableError } from "./unfillable-error.js";

/** How often a value is generated until its schema accepts it. */
export const maxAttempts = 200;

/** Types whose values may fail even without checks, because they consist of other schemas. */
const tested: ReadonlySet<string> = new Set(["pipe", "template_literal", "intersection", "custom"]);
const containers: ReadonlySet<string> = new Set([
  "object",
  "array",
  "tuple",
  "record",
  "map",
  "set",
]);

/** How often optional and nullable values are absent. */
const absence = 0.15;

/**
 * Returns a random input that a schema accepts. A value is generated from what the schema says, and
 * again if a check refuses it. A check that returns a promise is assumed to hold.
 *
 * @throws {UnfillableError} if no value is found.
 */
export function generateValue(schema: Schema, place: Place): unknown {
  const def = definitionOf(schema);
  const isTested =
    tested.has(def.type) || checksOf(def).length > 0 || (def.type === "union" && !isInclusive(def));
  if (!isTested) return make(schema, def, place);
  let reason = "";
  for (let i = 0; i < maxAttempts; i++) {
    const value = make(schema, def, { ...place, attempt: place.attempt + i });
    const refusal = refusalOf(schema, value);
    if (refusal === undefined) return value;
    reason = refusal;
  }
  throw new UnfillableError(
    place.path,
    `none of ${maxAttempts} generated values passed: ${reason}`,
  );
}

/** False for `z.xor`, of whose options exactly one has to match. */
function isInclusive(def: Definition): boolean {
  return def.inclusive !== false;
}

/** Returns why a schema refuses a value, or undefined if it accepts it or answers later. */
export function refusalOf(schema: Schema, value: unknown): string | undefined {
  try {
    const { success, error } = z.safeParse(schema, value);
    if (success) return undefined;
    const [issue] = error.issues;
    const path = issue?.path.map(String).join(".");
    return path ? `${path}: ${issue?.message}` : (issue?.message ?? "");
  } catch (error) {
    if (isAsyncError(error)) return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}

/** True if a check or a transform has returned a promise. The project may have its own Zod. */
export function isAsyncError(error: unknown): boolean {
  return (
    error instanceof z.core.$ZodAsyncError ||
    (error instanceof Error && error.constructor.name === "$ZodAsyncError")
  );
}

function make(schema: Schema, def: Definition, place: Place): unknown {
  switch (def.type) {
    case "string":
      return textValue(def, place);
    case "number":
    case "int":
      return numberValue(def, place);
    case "nan":
      return Number.NaN;
    case "bigint":
      return bigintValue(def, place);
    case "boolean":
    case "success":
      return place.fakes.faker.datatype.boolean();
    case "date":
      return dateValue(def, place);
    case "null":
      return null;
    case "undefined":
    case "void":
      return undefined;
    case "any":
    case "unknown":
    case "transform":
      return place.fakes.faker.lorem.word();
    case "literal":
    case "enum":
      return place.fakes.faker.helpers.arrayElement([...(schema._zod.values ?? [])]);
    case "template_literal":
      return patternText(place, (schema as z.core.$ZodTemplateLiteral)._zod.pattern, 0);
    case "custom":
      return classValue(schema, place);
    case "object":
      return objectValue(def, place, generateValue);
    case "array":
      return arrayValue(def, place, generateValue);
    case "tuple":
      return tupleValue(def, place, generateValue);
    case "record":
      return recordValue(def, place, generateValue);
    case "map":
      return mapValue(def, place, generateValue);
    case "set":
      return setValue(def, place, generateValue);
    case "union":
      return unionValue(def.options ?? [], place);
    case "intersection":
      return intersectionValue(def, place);
    case "pipe":
      return pipeValue(def, place, schema);
    case "lazy":
      return generateValue((schema as z.core.$ZodLazy)._zod.innerType, place);
    case "optional":
      return absentOr(undefined, def.innerType!, place);
    case "nullable":
      return absentOr(null, def.innerType!, place);
    case "default":
    case "prefault":
    case "nonoptional":
      return generateValue(def.innerType!, { ...place, isPresent: true });
    case "catch":
    case "readonly":
      return generateValue(def.innerType!, place);
    default:
      // Functions, files, symbols, promises, and kinds that later versions of Zod add.
      throw new UnfillableError(place.path, `no value can be generated for z.${def.type}()`);
  }
}

function absentOr(absent: undefined | null, inner: Schema, place: Place): unknown {
  // Null is a value, so a value that must be present may be null.
  const mayBeAbsent = absent === null || !place.isPresent;
  if (mayBeAbsent && isDeep(place)) return absent;
  if (mayBeAbsent && place.fakes.faker.number.float() < absence) return absent;
  try {
    return generateValue(inner, place);
  } catch (error) {
    if (mayBeAbsent && error instanceof UnfillableError) return absent;
    throw error;
  }
}

function unionValue(options: readonly Schema[], place: Place): unknown {
  const shuffled = place.fakes.faker.helpers.shuffle([...options]);
  const isLeaf = (option: Schema) => !containers.has(definitionOf(option).type);
  const ordered = isDeep(place)
    ? [...shuffled.filter(isLeaf), ...shuffled.filter((option) => !isLeaf(option))]
    : shuffled;
  let failure: unknown = new UnfillableError(place.path, "the union has no option");
  for (const option of ordered) {
    try {
      return generateValue(option, place);
    } catch (error) {
      if (!(error instanceof UnfillableError)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** Generates from the checks of both sides, or merges two objects, or tries one side alone. */
function intersectionValue({ left, right }: Definition, place: Place): unknown {
  const [first, second] = [definitionOf(left!), definitionOf(right!)];
  if (first.type === second.type && !containers.has(first.type) && checksOf(first).length > 0) {
    const checks = [...(first.checks ?? []), ...(second.checks ?? [])];
    const merged = { ...second, ...first, checks };
    if (second.check !== undefined) return make(left!, { ...first, ...merged }, place);
    return make(left!, merged, place);
  }
  const a = generateValue(left!, place);
  const b = generateValue(right!, place);
  if (isObject(a) && isObject(b)) return { ...a, ...b };
  return place.attempt % 2 === 0 ? a : b;
}

function isObject(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** Generates an input: by the first schema, by the second one, or by decoding backwards. */
function pipeValue(def: Definition, place: Place, schema: Schema): unknown {
  // The function of `z.preprocess` takes anything, and returns acceptable values as they are.
  if (definitionOf(def.in!).type === "transform") return generateValue(def.out!, place);
  const way = place.attempt % 8;
  if (way < 5 || definitionOf(def.out!).type === "transform") return generateValue(def.in!, place);
  const output = generateValue(def.out!, place);
  if (way < 7) return output;
  try {
    return z.encode(schema, output);
  } catch {
    return output;
  }
}
