import type * as z from "zod";

type Schema = z.core.$ZodType;

interface Definition {
  readonly type: string;
  readonly innerType?: Schema;
  readonly out?: Schema;
  readonly element?: Schema;
  readonly items?: readonly Schema[];
  readonly rest?: Schema | null;
  readonly options?: readonly Schema[];
  readonly left?: Schema;
  readonly right?: Schema;
}

/** Kinds of values, by the names that Zod has for them, none of which a key holds. */
const outsideKeys: ReadonlySet<string> = new Set([
  "array",
  "file",
  "function",
  "map",
  "object",
  "record",
  "set",
  "symbol",
  "tuple",
]);
const lists: ReadonlySet<string> = new Set(["array", "tuple"]);
const nothings: ReadonlySet<string> = new Set(["null", "undefined", "void", "never"]);
const unknowns: ReadonlySet<string> = new Set([
  "any",
  "unknown",
  "custom",
  "transform",
  "intersection",
]);

/** Whether a key may hold a value of a field, as far as its schema tells: what a transform makes may be anything. */
export function canBeInKey(schema: Schema): boolean {
  const kinds = valueKinds(schema);
  return kinds.length === 0 || kinds.some(isKeyKind);
}

function isKeyKind(kind: Schema): boolean {
  const { type, left, right } = definitionOf(kind);
  if (type === "intersection" && left && right) return canBeInKey(left) && canBeInKey(right);
  return !outsideKeys.has(type);
}

/** Whether the values of a field are arrays, by its schema: what it is optional or defaulted from counts. */
export function isList(schema: Schema): boolean {
  const kinds = valueKinds(schema);
  return kinds.length > 0 && kinds.every((kind) => lists.has(typeOf(kind)));
}

/** Whether a value of a field may be an array, as far as its schema tells. */
export function canBeList(schema: Schema): boolean {
  return listKinds(schema).length > 0;
}

/** Whether a key may hold the elements of a field that may be an array. */
export function canHoldElements(schema: Schema): boolean {
  return listKinds(schema).some((kind) => {
    const { element, items = [], rest } = definitionOf(kind);
    const elements = [...items, element, rest].filter(
      (part) => part !== undefined && part !== null,
    );
    return elements.length === 0 || elements.some(canBeInKey);
  });
}

/** The kinds of values that a schema returns, but null and undefined. */
function valueKinds(schema: Schema): readonly Schema[] {
  return kindsOf(schema).filter((kind) => !nothings.has(typeOf(kind)));
}

/** Those of them that are arrays, or may be. */
function listKinds(schema: Schema): readonly Schema[] {
  return kindsOf(schema).filter((kind) => lists.has(typeOf(kind)) || unknowns.has(typeOf(kind)));
}

/** The kinds of values that a schema returns, as schemas that are made of no other ones that say it. */
function kindsOf(schema: Schema, within: ReadonlySet<Schema> = new Set()): readonly Schema[] {
  if (within.has(schema)) return [];
  const inside = new Set([...within, schema]);
  const def = definitionOf(schema);
  // It returns whether the schema within it is content.
  if (def.type === "success") return [schema];
  const parts =
    def.type === "union"
      ? def.options
      : def.type === "lazy"
        ? [(schema as z.core.$ZodLazy)._zod.innerType]
        : [def.type === "pipe" ? def.out : def.innerType].filter((part) => part !== undefined);
  if (parts === undefined || parts.length === 0) return [schema];
  return parts.flatMap((part) => kindsOf(part, inside));
}

function typeOf(schema: Schema): string {
  return definitionOf(schema).type;
}

function definitionOf(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition;
}
