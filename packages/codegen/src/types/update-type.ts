import { type Alternatives, isRepeatable, textOf, unionOf, withoutMember } from "./alternatives.js";
import type { InterfaceType, Property } from "./object-type.js";

/** The names of the types that a model's rows are created from and stored as. */
export interface RowTypeNames {
  readonly create: string;
  readonly row: string;
}

/**
 * Returns the type of the data that `update` takes. A field is a value, or an operation such as
 * `{ increment: 1 }`. Operations are spelled out if the type of the field is short and shows which
 * ones apply. Otherwise they are the `FieldOperation` of the field.
 *
 * @param input the type that a row is created from.
 * @param row the type of a stored row, which shows which fields can be incremented.
 * @param primaryKey the fields that cannot change.
 */
export function updateType(
  input: InterfaceType,
  row: InterfaceType,
  primaryKey: readonly string[],
  names: RowTypeNames,
): InterfaceType {
  const stored = new Map(row.properties.map(({ name, type }) => [name, type]));
  const properties = input.properties
    .filter(({ name }) => !primaryKey.includes(name))
    .map((property) => {
      const { name, type } = property;
      // The settings of the user's compiler decide if an exact optional field may be unset.
      const isExact = property.isOptional && !type.includes("undefined");
      const operations = isExact ? undefined : operationsOn(property, stored.get(name) ?? []);
      const all = operations ?? [operationOf(name, names, stored.has(name))];
      return { ...property, isOptional: true, type: withOperations(type, all) };
    });
  return { properties, rest: updatedRest(input.rest, row.rest) };
}

function withOperations(type: Alternatives, operations: Alternatives): Alternatives {
  return unionOf(withoutMember(type, "undefined"), operations, ["undefined"]);
}

/** Returns the type of further properties. All of them may be absent. */
function updatedRest(input: Alternatives, stored: Alternatives): Alternatives {
  if (input.length === 0) return input;
  const field = { name: "", isOptional: true, type: input, description: undefined };
  const inferred = `FieldOperation<${textOf(input)}, ${textOf(stored)}, undefined>`;
  return withOperations(input, operationsOn(field, stored) ?? [inferred]);
}

function operationOf(field: string, { create, row }: RowTypeNames, isStored: boolean): string {
  const at = `[${JSON.stringify(field)}]`;
  return `FieldOperation<${create}${at}, ${isStored ? `${row}${at}` : "never"}>`;
}

function operationsOn(
  { type, isOptional }: Property,
  stored: Alternatives,
): Alternatives | undefined {
  const values = presentType(type);
  const storedValues = presentType(stored);
  const isSpelledOut = [...values, ...storedValues].every(isPlain);
  if (values.length === 0 || !isSpelledOut || !isRepeatable(textOf(type))) return undefined;
  const elements = values.flatMap((member) => elementsOf(member) ?? []);
  const push = pushArgument(elements);
  if (elements.length > 0 && (values.length > 1 || push === undefined)) return undefined;
  const isIncrementable = (isKind: (member: string) => boolean) =>
    storedValues.length > 0 && storedValues.every(isKind);
  return [
    `{ set: ${textOf(type)} }`,
    ...(isIncrementable(isNumber) ? ["{ increment: number }"] : []),
    ...(isIncrementable(isBigint) ? ["{ increment: bigint }"] : []),
    ...(push === undefined ? [] : [`{ push: ${push} }`]),
    ...(isOptional || type.includes("undefined") ? ["{ unset: true }"] : []),
  ];
}

/** Returns undefined if the field has no elements, or if they may be arrays. */
function pushArgument(elements: Alternatives): string | undefined {
  const isPlainElement = (member: string) => isPlain(member) && elementsOf(member) === undefined;
  if (elements.length === 0 || !elements.every(isPlainElement)) return undefined;
  return `${textOf(elements)} | readonly (${textOf(elements)})[]`;
}

function presentType(type: Alternatives): Alternatives {
  return withoutMember(withoutMember(type, "null"), "undefined");
}

const plainTypes: ReadonlySet<string> = new Set(
  "string boolean true false null undefined Date URL RegExp".split(" "),
);

/** True if the text is neither a name nor a reference nor a combination of types. */
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

/** Returns the elements of an array, which is always written as `(…)[]`. */
function elementsOf(member: string): Alternatives | undefined {
  const [, element] = /^(?:readonly )?\((.*)\)\[\]$/s.exec(member) ?? [];
  return element === undefined ? undefined : membersOf(element);
}

function membersOf(text: string): Alternatives {
  const members: string[] = [];
  let [depth, start] = [0, 0];
  // The tokens are string literals, brackets, and the separators between members.
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
