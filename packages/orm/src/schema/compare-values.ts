import { canonicalJson } from "./hash.js";
import { isWider, objectParts } from "./is-wider.js";
import { isEmpty, isNothing } from "./normalize-json-schema.js";
import { optionsOf, partOf, type ValueSchema } from "./value-schema.js";

/** A difference between the values of two descriptions. */
export interface ValueDifference {
  /** `"safe"` where every old value is one of the new, `"breaking"` where a part of them is not seen any more. */
  readonly class: "safe" | "data" | "breaking";
  /** A sentence that begins with the path. */
  readonly reason: string;
}

/**
 * What differs between the values of two descriptions; in objects and arrays, each part by itself.
 *
 * @param path of the values, for the reasons: `home.street`, `tags[]`.
 */
export function compareValues(path: string, from: ValueSchema, to: ValueSchema): ValueDifference[] {
  return differences(path, from, to, []);
}

function differences(
  path: string,
  from: ValueSchema,
  to: ValueSchema,
  within: readonly unknown[],
): ValueDifference[] {
  const fits = isWider(from, to);
  if (fits && isWider(to, from)) return [];
  const [a, b] = [loneContainer(from), loneContainer(to)];
  // What contains itself is compared as a whole.
  const isPlain = a !== undefined && !within.includes(a.schema.node);
  if (isPlain && b !== undefined && isSame(a.others, b.others) && a.type === b.type) {
    const inner = [...within, a.schema.node];
    if (a.type === "object") return objectDifferences(path, a.schema, b.schema, inner);
    if (isSameBut(a.schema, b.schema, "items")) {
      const [x, y] = [a, b].map(({ schema }) => partOf(schema, schema.node.items));
      if (x !== undefined && y !== undefined) return differences(`${path}[]`, x, y, inner);
    }
  }
  const quoted = JSON.stringify(path);
  if (fits) {
    const reason = `${quoted} was ${valueText(from)} and is ${valueText(to)}: every old value fits`;
    return [{ class: "safe", reason: isTold(from, to) ? reason : `${quoted} takes more values` }];
  }
  const reason = isTold(from, to)
    ? `${quoted} was ${valueText(from)} and is ${valueText(to)}`
    : `${quoted} takes other values than before`;
  return [{ class: "data", reason: `${reason}: it needs a migration that changes it` }];
}

/** The one object or array among the alternatives of a schema, and what else there is. */
function loneContainer(schema: ValueSchema) {
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

function isSameBut(a: ValueSchema, b: ValueSchema, word: string): boolean {
  if (a.node[word] === undefined || b.node[word] === undefined) return false;
  return isSame({ ...a.node, [word]: 0, $defs: 0 }, { ...b.node, [word]: 0, $defs: 0 });
}

function objectDifferences(
  path: string,
  from: ValueSchema,
  to: ValueSchema,
  within: readonly unknown[],
): ValueDifference[] {
  const [a, b] = [objectParts(from.node), objectParts(to.node)];
  const result: ValueDifference[] = [];
  for (const name of Object.keys(b.properties)) {
    const at = `${path}.${name}`;
    const quoted = JSON.stringify(at);
    const part = partOf(to, b.properties[name]);
    const isRequired = b.required.includes(name);
    if (!Object.hasOwn(a.properties, name)) {
      const mayBeThere = a.others !== false && !isWider(partOf(from, a.others), part);
      if (isRequired)
        result.push({
          class: "data",
          reason: `${quoted} is new and required: it needs a migration`,
        });
      else if (mayBeThere)
        result.push({ class: "data", reason: `${quoted} may hold something else already` });
      else result.push({ class: "safe", reason: `${quoted} is new and optional` });
      continue;
    }
    const was = a.required.includes(name);
    if (isRequired && !was) {
      const reason = `${quoted} was optional and is required: it needs a migration that fills it in`;
      result.push({ class: "data", reason });
    } else if (was && !isRequired) {
      result.push({ class: "safe", reason: `${quoted} was required and is optional` });
    }
    result.push(...differences(at, partOf(from, a.properties[name]), part, within));
  }
  const rest = { ...a, properties: {}, required: [] };
  for (const name of Object.keys(a.properties)) {
    if (Object.hasOwn(b.properties, name)) continue;
    const quoted = JSON.stringify(`${path}.${name}`);
    const part = partOf(from, a.properties[name]);
    if (b.others === false)
      result.push({
        class: "breaking",
        reason: `${quoted} is gone: rows keep what they hold in it`,
      });
    else if (!isWider(part, partOf(to, b.others)))
      result.push({ class: "data", reason: `${quoted} is named no more, and does not fit` });
  }
  if (!isSame(rest, { ...b, properties: {}, required: [] })) {
    const others = (parts: typeof a, root: ValueSchema) => ({
      ...root,
      node: { ...root.node, ...restWords(parts) },
    });
    const fits = isWider(others(a, from), others(b, to));
    const reason = `${JSON.stringify(path)} takes other properties than before`;
    result.push({ class: fits ? "safe" : "data", reason });
  }
  return result;
}

function restWords({ others, names, patterns }: ReturnType<typeof objectParts>) {
  return {
    properties: {},
    required: [],
    additionalProperties: others,
    propertyNames: names,
    ...(patterns !== undefined && { patternProperties: patterns }),
  };
}

function isTold(from: ValueSchema, to: ValueSchema): boolean {
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

/** What values a schema is of, in a few words. */
function valueText(schema: ValueSchema): string {
  if (isEmpty(schema.node)) return "anything";
  if (isNothing(schema.node)) return "nothing";
  return optionsOf(schema).map(optionText).join(" or ");
}

function optionText(schema: ValueSchema): string {
  const { type, enum: literals, class: ofClass, items, ...rest } = schema.node;
  if (Array.isArray(literals)) {
    const shown = literals.slice(0, 5).map((value) => JSON.stringify(value));
    return shown.join(" or ") + (literals.length > shown.length ? " or others" : "");
  }
  if (ofClass !== undefined) return `an instance of ${String(ofClass)}`;
  const name = names[String(type)] ?? String(type);
  const details = Object.entries(rest)
    .filter(([, value]) => ["string", "number"].includes(typeof value))
    .filter(([, value]) => !(type === "integer" && Math.abs(Number(value)) === 2 ** 53 - 1))
    .map(([word, value]) => (word === "format" ? String(value) : `${word} ${String(value)}`));
  return details.length === 0 ? name : `${name} (${details.join(", ")})`;
}
