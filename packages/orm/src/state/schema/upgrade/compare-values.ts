import { isWider, objectParts } from "../json/is-wider.js";
import { acceptsAnything, acceptsNothing } from "../json/normalize-json-schema.js";
import { nestedSchema, optionsOf, type ValueSchema } from "../json/value-schema.js";
import { canonicalJson } from "../manifests/hash.js";

export interface ValueDifference {
  /**
   * `"safe"`: every old value is a valid new value. `"data"`: a migration has to change values.
   * `"breaking"`: a part of the old values becomes invisible.
   */
  readonly class: "safe" | "data" | "breaking";
  /** A clause that begins with the path. */
  readonly reason: string;
}

/**
 * Returns the differences between the values of two schemas. The parts of objects and arrays are
 * compared separately.
 *
 * @param path the path of the values in the reasons, such as `home.street` or `tags[]`.
 */
export function compareValues(path: string, from: ValueSchema, to: ValueSchema): ValueDifference[] {
  return differences(path, from, to, []);
}

function differences(
  path: string,
  from: ValueSchema,
  to: ValueSchema,
  ancestors: readonly unknown[],
): ValueDifference[] {
  const fits = isWider(from, to);
  if (fits && isWider(to, from)) return [];
  const [a, b] = [findOnlyContainer(from), findOnlyContainer(to)];
  // A schema that contains itself is compared as a whole, because its parts never end.
  const isPlain = a !== undefined && !ancestors.includes(a.schema.node);
  if (isPlain && b !== undefined && isSame(a.others, b.others) && a.type === b.type) {
    const inner = [...ancestors, a.schema.node];
    if (a.type === "object") return objectDifferences(path, a.schema, b.schema, inner);
    if (isSameExcept(a.schema, b.schema, "items")) {
      const [x, y] = [a, b].map(({ schema }) => nestedSchema(schema, schema.node.items));
      if (x !== undefined && y !== undefined) return differences(`${path}[]`, x, y, inner);
    }
  }
  const quoted = JSON.stringify(path);
  if (fits) {
    const reason = `${quoted} was ${valueText(from)} and is ${valueText(to)}: every old value fits`;
    return [
      {
        class: "safe",
        reason: haveDistinctTexts(from, to) ? reason : `${quoted} takes more values`,
      },
    ];
  }
  const reason = haveDistinctTexts(from, to)
    ? `${quoted} was ${valueText(from)} and is ${valueText(to)}`
    : `${quoted} takes other values than before`;
  return [{ class: "data", reason: `${reason}: it needs a migration that changes it` }];
}

/** Returns the only object or array among the alternatives of a schema, with the others. */
function findOnlyContainer(schema: ValueSchema) {
  const options = optionsOf(schema);
  const isContainer = ({ node }: ValueSchema) => node.type === "object" || node.type === "array";
  const containers = options.filter(isContainer);
  const [only] = containers;
  if (only === undefined || containers.length > 1) return undefined;
  const others = options.filter((option) => option !== only).map(({ node }) => node);
  return { schema: only, type: only.node.type, others };
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson([a]) === canonicalJson([b]);
}

function isSameExcept(a: ValueSchema, b: ValueSchema, keyword: string): boolean {
  if (a.node[keyword] === undefined || b.node[keyword] === undefined) return false;
  return isSame({ ...a.node, [keyword]: 0, $defs: 0 }, { ...b.node, [keyword]: 0, $defs: 0 });
}

function objectDifferences(
  path: string,
  from: ValueSchema,
  to: ValueSchema,
  ancestors: readonly unknown[],
): ValueDifference[] {
  const [a, b] = [objectParts(from.node), objectParts(to.node)];
  const result: ValueDifference[] = [];
  const add = (kind: ValueDifference["class"], reason: string) =>
    void result.push({ class: kind, reason });
  for (const name of Object.keys(b.properties)) {
    const partPath = `${path}.${name}`;
    const quoted = JSON.stringify(partPath);
    const part = nestedSchema(to, b.properties[name]);
    const isRequired = b.required.includes(name);
    if (!Object.hasOwn(a.properties, name)) {
      const mayConflict = a.others !== false && !isWider(nestedSchema(from, a.others), part);
      if (isRequired) add("data", `${quoted} is new and required: it needs a migration`);
      else if (mayConflict) add("data", `${quoted} may hold something else already`);
      else add("safe", `${quoted} is new and optional`);
      continue;
    }
    const wasRequired = a.required.includes(name);
    if (isRequired && !wasRequired) {
      add("data", `${quoted} was optional and is required: it needs a migration that fills it in`);
    } else if (wasRequired && !isRequired) {
      add("safe", `${quoted} was required and is optional`);
    }
    result.push(...differences(partPath, nestedSchema(from, a.properties[name]), part, ancestors));
  }
  const remaining = { ...a, properties: {}, required: [] };
  for (const name of Object.keys(a.properties)) {
    if (Object.hasOwn(b.properties, name)) continue;
    const quoted = JSON.stringify(`${path}.${name}`);
    const part = nestedSchema(from, a.properties[name]);
    if (b.others === false) add("breaking", `${quoted} is gone: rows keep what they hold in it`);
    else if (!isWider(part, nestedSchema(to, b.others)))
      add("data", `${quoted} is no longer named, and does not fit the other properties`);
  }
  if (!isSame(remaining, { ...b, properties: {}, required: [] })) {
    const others = (parts: typeof a, root: ValueSchema) => ({
      ...root,
      node: { ...root.node, ...remainingKeywords(parts) },
    });
    const fits = isWider(others(a, from), others(b, to));
    add(fits ? "safe" : "data", `${JSON.stringify(path)} takes other properties than before`);
  }
  return result;
}

function remainingKeywords({ others, names, patterns }: ReturnType<typeof objectParts>) {
  return {
    properties: {},
    required: [],
    additionalProperties: others,
    propertyNames: names,
    ...(patterns !== undefined && { patternProperties: patterns }),
  };
}

function haveDistinctTexts(from: ValueSchema, to: ValueSchema): boolean {
  return valueText(from) !== valueText(to);
}

const names: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
  null: "null",
  object: "an object",
  array: "an array",
  "x-date": "a date",
  "x-bigint": "a bigint",
  "x-undefined": "undefined",
  "x-map": "a map",
  "x-set": "a set",
  "x-file": "a file",
  "x-symbol": "a symbol",
  "x-nan": "NaN",
  "x-custom": "what a function checks",
  "x-transform": "what a transform makes",
};

function valueText(schema: ValueSchema): string {
  if (acceptsAnything(schema.node)) return "anything";
  if (acceptsNothing(schema.node)) return "nothing";
  return optionsOf(schema).map(optionText).join(" or ");
}

function optionText(schema: ValueSchema): string {
  const { type, enum: literals, class: className, items, ...rest } = schema.node;
  if (Array.isArray(literals)) {
    const shown = literals.slice(0, 5).map((value) => JSON.stringify(value));
    return shown.join(" or ") + (literals.length > shown.length ? " or others" : "");
  }
  if (className !== undefined) return `an instance of ${String(className)}`;
  const name = names[String(type)] ?? String(type);
  const details = Object.entries(rest)
    .filter(([, value]) => ["string", "number"].includes(typeof value))
    .filter(([, value]) => !(type === "integer" && Math.abs(Number(value)) === 2 ** 53 - 1))
    .map(([key, value]) => (key === "format" ? String(value) : `${key} ${String(value)}`));
  return details.length === 0 ? name : `${name} (${details.join(", ")})`;
}
