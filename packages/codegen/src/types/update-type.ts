import { type Alternatives, textOf, unionOf, without } from "./alternatives.js";
import type { InterfaceType, Property } from "./object-type.js";

/** Operations on values of a longer type refer to the field instead of repeating it, in characters. */
const longestValue = 40;

/** The names of the types that a model's rows are created from and stored as. */
export interface RowTypeNames {
  readonly create: string;
  readonly row: string;
}

/**
 * What `update` takes: fields as they are handed in, or what is to become of them: `{ increment: 1 }` and the like. They are
 * spelled out where the type is short and shows which there are; elsewhere it is a `FieldOperation` of the field.
 *
 * @param given what a row is created from.
 * @param row as it is stored, which says what can be counted up.
 * @param primaryKey fields that do not change.
 */
export function updateType(
  given: InterfaceType,
  row: InterfaceType,
  primaryKey: readonly string[],
  names: RowTypeNames,
): InterfaceType {
  const stored = new Map(row.properties.map(({ name, type }) => [name, type]));
  const properties = given.properties
    .filter(({ name }) => !primaryKey.includes(name))
    .map((property) => {
      const { name, type } = property;
      // Whether an exact optional field may be unset is for the compiler's settings to say.
      const isExact = property.isOptional && !type.includes("undefined");
      const operations = isExact ? undefined : operationsOn(property, stored.get(name) ?? []);
      const all = operations ?? [operationOf(name, names, stored.has(name))];
      return { ...property, isOptional: true, type: updated(type, all) };
    });
  return { properties, rest: updatedRest(given.rest, row.rest) };
}

function updated(type: Alternatives, operations: Alternatives): Alternatives {
  return unionOf(without(type, "undefined"), operations, ["undefined"]);
}

/** Further properties may all be absent. */
function updatedRest(given: Alternatives, stored: Alternatives): Alternatives {
  if (given.length === 0) return given;
  const field = { name: "", isOptional: true, type: given, description: undefined };
  const inferred = `FieldOperation<${textOf(given)}, ${textOf(stored)}, undefined>`;
  return updated(given, operationsOn(field, stored) ?? [inferred]);
}

function operationOf(field: string, { create, row }: RowTypeNames, isStored: boolean): string {
  const at = `[${JSON.stringify(field)}]`;
  return `FieldOperation<${create}${at}, ${isStored ? `${row}${at}` : "never"}>`;
}

/** The operations on a field; undefined where its type is long, or does not show them. */
function operationsOn(
  { type, isOptional }: Property,
  stored: Alternatives,
): Alternatives | undefined {
  const values = present(type);
  const kept = present(stored);
  const isSpelledOut = [...values, ...kept].every(isPlain);
  if (values.length === 0 || !isSpelledOut || textOf(type).length > longestValue) return undefined;
  const elements = values.flatMap((member) => elementsOf(member) ?? []);
  const push = pushed(elements);
  if (elements.length > 0 && (values.length > 1 || push === undefined)) return undefined;
  const isCounted = (isKind: (member: string) => boolean) => kept.length > 0 && kept.every(isKind);
  return [
    `{ set: ${textOf(type)} }`,
    ...(isCounted(isNumber) ? ["{ increment: number }"] : []),
    ...(isCounted(isBigint) ? ["{ increment: bigint }"] : []),
    ...(push === undefined ? [] : [`{ push: ${push} }`]),
    ...(isOptional || type.includes("undefined") ? ["{ unset: true }"] : []),
  ];
}

/** What `push` takes: an element or a list of them; undefined for no elements, and where they may be arrays. */
function pushed(elements: Alternatives): string | undefined {
  const isPlainElement = (member: string) => isPlain(member) && elementsOf(member) === undefined;
  if (elements.length === 0 || !elements.every(isPlainElement)) return undefined;
  return `${textOf(elements)} | readonly (${textOf(elements)})[]`;
}

function present(type: Alternatives): Alternatives {
  return without(without(type, "null"), "undefined");
}

const plainTypes: ReadonlySet<string> = new Set(
  "string boolean true false null undefined Date URL RegExp".split(" "),
);

/** Whether a member of a union shows what it is: it is neither a name, nor a reference, nor made of others. */
function isPlain(member: string): boolean {
  const isPlainObject = /^("|\{|(Readonly)?(Map|Set)<|\w*Array(Buffer)?(<ArrayBuffer>)?$)/;
  return (
    plainTypes.has(member) ||
    isNumber(member) ||
    isBigint(member) ||
    isPlainObject.test(member) ||
    elementsOf(member) !== undefined
  );
}

function isNumber(member: string): boolean {
  return member === "number" || /^-?\d[\d.]*(e[+-]?\d+)?$/.test(member);
}

function isBigint(member: string): boolean {
  return member === "bigint" || /^-?\d+n$/.test(member);
}

/** The elements of a member that is an array: only arrays are written `(…)[]`. Undefined for what is none. */
function elementsOf(member: string): Alternatives | undefined {
  const [, element] = /^(?:readonly )?\((.*)\)\[\]$/s.exec(member) ?? [];
  return element === undefined ? undefined : membersOf(element);
}

/** The members of a union in text. */
function membersOf(text: string): Alternatives {
  const members: string[] = [];
  let [depth, start] = [0, 0];
  // A string literal, a bracket, or what stands between two members.
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[([{<]|[)\]}>]| \| /g)) {
    if (/^[([{<]$/.test(token)) depth++;
    else if (/^[)\]}>]$/.test(token)) depth--;
    else if (token === " | " && depth === 0) {
      members.push(text.slice(start, index));
      start = index + token.length;
    }
  }
  return [...members, text.slice(start)];
}
