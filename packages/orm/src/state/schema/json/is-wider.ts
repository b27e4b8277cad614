import { canonicalJson } from "../manifests/hash.js";
import type { JsonSchema } from "../manifests/manifest.js";
import { acceptsAnything, acceptsNothing } from "./normalize-json-schema.js";
import { nestedSchema, optionsOf, type ValueSchema, valueSchema } from "./value-schema.js";

/**
 * The pairs that are being compared. A schema that contains itself leads to the same pair again.
 */
type Pairs = Map<JsonSchema, Set<JsonSchema>>;

/**
 * True if every value of `from` is also a value of `to`. False if the descriptions do not show
 * this. If each of two schemas is wider than the other, both have the same values.
 */
export function isWider(from: ValueSchema, to: ValueSchema): boolean {
  return includes(from, to, new Map());
}

function includes(from: ValueSchema, to: ValueSchema, pairs: Pairs): boolean {
  if (acceptsAnything(to.node)) return true;
  if (acceptsAnything(from.node)) return false;
  const known = pairs.get(from.node);
  if (known?.has(to.node)) return true;
  // A pair that is already being compared counts as true: it holds if all the rest of the
  // comparison holds.
  if (known === undefined) pairs.set(from.node, new Set([to.node]));
  else known.add(to.node);
  const options = optionsOf(to);
  const result = optionsOf(from).every((option) => isOneOf(option, options, pairs));
  if (!result) pairs.get(from.node)?.delete(to.node);
  return result;
}

function isOneOf(from: ValueSchema, options: readonly ValueSchema[], pairs: Pairs): boolean {
  if (acceptsNothing(from.node)) return true;
  if (!Array.isArray(from.node.enum)) return options.some((to) => isPart(from, to, pairs));
  return from.node.enum.every((value) => options.some(({ node }) => takes(node, value)));
}

function takes(to: JsonSchema, value: unknown): boolean {
  if (acceptsAnything(to)) return true;
  if (Array.isArray(to.enum)) {
    const text = canonicalJson(value);
    return to.enum.some((other) => canonicalJson(other) === text);
  }
  const { minLength, maxLength, ...rest } = to;
  if (typeof value === "string") {
    const isLong =
      value.length >= bound(minLength, 0) && value.length <= bound(maxLength, Infinity);
    return isLong && canonicalJson(rest) === '{"type":"string"}';
  }
  if (typeof value === "number") return takesNumber(to, value);
  return typeof value === "boolean" && canonicalJson(to) === '{"type":"boolean"}';
}

function takesNumber(to: JsonSchema, value: number): boolean {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = to;
  return (
    Object.keys(rest).length === 0 &&
    (type === "number" || (type === "integer" && Number.isInteger(value))) &&
    value >= bound(minimum, -Infinity) &&
    value <= bound(maximum, Infinity) &&
    value > bound(exclusiveMinimum, -Infinity) &&
    value < bound(exclusiveMaximum, Infinity)
  );
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

/**
 * True if every value of `from`, which is not an `enum`, is a value of `to`. Neither has
 * alternatives.
 */
function isPart(from: ValueSchema, to: ValueSchema, pairs: Pairs): boolean {
  if (acceptsAnything(to.node)) return true;
  const { type } = to.node;
  const isInteger = type === "number" && from.node.type === "integer";
  if (typeof type !== "string" || (type !== from.node.type && !isInteger)) return false;
  switch (type) {
    case "string":
      return hasLooserSizes(from.node, to.node, "Length") && hasFewerConditions(from.node, to.node);
    case "number":
    case "integer":
      return hasLooserBounds(from.node, to.node, Number) && hasFewerConditions(from.node, to.node);
    case "x-bigint":
      return hasLooserBounds(from.node, to.node, BigInt) && hasFewerConditions(from.node, to.node);
    case "x-date":
      return hasLooserBounds(from.node, to.node, (value) => Date.parse(String(value)));
    case "array":
      return hasLooserSizes(from.node, to.node, "Items") && hasWiderItems(from, to, pairs);
    case "object":
      return hasWiderProperties(from, to, pairs);
    case "x-map":
    case "x-set":
      return (
        hasLooserSizes(from.node, to.node, "Items") &&
        areDocumentsWider(from.node, to.node, type === "x-map" ? ["keys", "values"] : ["values"])
      );
    case "x-transform":
      return (
        areDocumentsWider(from.node, to.node, ["input"]) &&
        areDocumentsWider(to.node, from.node, ["input"])
      );
    default:
      return canonicalJson(from.node) === canonicalJson(to.node);
  }
}

function areDocumentsWider(from: JsonSchema, to: JsonSchema, keywords: readonly string[]): boolean {
  return keywords.every((keyword) => {
    const [a, b] = [from[keyword] as JsonSchema, to[keyword] as JsonSchema];
    return canonicalJson(a) === canonicalJson(b) || isWider(valueSchema(a), valueSchema(b));
  });
}

function hasLooserSizes(from: JsonSchema, to: JsonSchema, of: "Length" | "Items"): boolean {
  const isLess = bound(to[`min${of}`], 0) <= bound(from[`min${of}`], 0);
  return isLess && bound(to[`max${of}`], Infinity) >= bound(from[`max${of}`], Infinity);
}

interface Bound<T> {
  readonly value: T;
  readonly isOpen: boolean;
}

function hasLooserBounds<T extends number | bigint>(
  from: JsonSchema,
  to: JsonSchema,
  read: (value: string | number) => T,
): boolean {
  const boundOf = (schema: JsonSchema, inclusive: string, open: string): Bound<T> | undefined => {
    const value = schema[open] ?? schema[inclusive];
    if (typeof value !== "string" && typeof value !== "number") return undefined;
    return { value: read(value), isOpen: schema[open] !== undefined };
  };
  const lower = (schema: JsonSchema) => boundOf(schema, "minimum", "exclusiveMinimum");
  const upper = (schema: JsonSchema) => boundOf(schema, "maximum", "exclusiveMaximum");
  return (
    isInside(lower(from), lower(to), (a, b) => a > b) &&
    isInside(upper(from), upper(to), (a, b) => a < b)
  );
}

function isInside<T>(
  from: Bound<T> | undefined,
  to: Bound<T> | undefined,
  isPast: (a: T, b: T) => boolean,
): boolean {
  if (to === undefined) return true;
  if (from === undefined) return false;
  return isPast(from.value, to.value) || (from.value === to.value && (from.isOpen || !to.isOpen));
}

const sizeKeywords = new Set(
  "type minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum".split(" "),
);

function conditionsOf(schema: JsonSchema): readonly JsonSchema[] {
  const { allOf = [], ...rest } = schema;
  const keywords = Object.entries(rest).filter(
    ([keyword]) => !sizeKeywords.has(keyword) && keyword !== "$defs",
  );
  const all = allOf as readonly JsonSchema[];
  return keywords.length === 0 ? all : [...all, Object.fromEntries(keywords)];
}

function hasFewerConditions(from: JsonSchema, to: JsonSchema): boolean {
  const conditions = conditionsOf(from);
  return conditionsOf(to).every((condition) =>
    conditions.some((one) => isStricter(one, condition)),
  );
}

/** Options of a format that allow fewer values, and those that allow more. */
const narrowing = new Set(["version", "hostname", "protocol", "alg", "precision"]);
const widening = new Set(["offset", "local"]);

function isStricter(condition: JsonSchema, than: JsonSchema): boolean {
  return [...new Set([...Object.keys(condition), ...Object.keys(than)])].every((keyword) => {
    if (narrowing.has(keyword) && than[keyword] === undefined) return true;
    if (widening.has(keyword) && condition[keyword] === undefined) return true;
    return canonicalJson([condition[keyword]]) === canonicalJson([than[keyword]]);
  });
}

function hasWiderItems(from: ValueSchema, to: ValueSchema, pairs: Pairs): boolean {
  const count = Math.max(prefixOf(from.node).length, prefixOf(to.node).length);
  for (let position = 0; position <= count; position++) {
    const [a, b] = [itemOf(from.node, position), itemOf(to.node, position)];
    if (a === false) continue;
    if (b === false || !includes(nestedSchema(from, a), nestedSchema(to, b), pairs)) return false;
  }
  return true;
}

function prefixOf(schema: JsonSchema): readonly unknown[] {
  return Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
}

function itemOf(schema: JsonSchema, position: number): unknown {
  return prefixOf(schema)[position] ?? schema.items ?? {};
}

function hasWiderProperties(from: ValueSchema, to: ValueSchema, pairs: Pairs): boolean {
  const [a, b] = [objectParts(from.node), objectParts(to.node)];
  if (canonicalJson([a.patterns]) !== canonicalJson([b.patterns])) return false;
  if (!b.required.every((name) => a.required.includes(name))) return false;
  const isIn = (part: unknown, other: unknown) =>
    part === false ||
    (other !== false && includes(nestedSchema(from, part), nestedSchema(to, other), pairs));
  const names = new Set([...Object.keys(a.properties), ...Object.keys(b.properties)]);
  for (const name of names) {
    const isNamed = Object.hasOwn(a.properties, name);
    if (isNamed && !optionsOf(nestedSchema(to, b.names)).some(({ node }) => takes(node, name)))
      return false;
    if (!isIn(propertyOf(a, name), propertyOf(b, name))) return false;
  }
  if (a.others === false) return true;
  return isIn(a.others, b.others) && isIn(a.names, b.names);
}

interface ObjectParts {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  /** The schema of all other properties. False if there may be none. */
  readonly others: unknown;
  readonly names: unknown;
  readonly patterns: unknown;
}

/** Returns the keywords for the properties of an object, with the defaults of absent ones. */
export function objectParts(schema: JsonSchema): ObjectParts {
  const {
    properties = {},
    required = [],
    additionalProperties: others = {},
    propertyNames: names = { type: "string" },
    patternProperties: patterns,
  } = schema;
  return { properties, required, others, names, patterns } as ObjectParts;
}

function propertyOf({ properties, others }: ObjectParts, name: string): unknown {
  return Object.hasOwn(properties, name) ? properties[name] : others;
}
