import type * as z from "zod";
import type { FieldKind } from "../protocol/studio-info.js";

interface Definition {
  readonly type: string;
  readonly innerType?: z.core.$ZodType;
  readonly getter?: () => z.core.$ZodType;
  readonly out?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly entries?: Readonly<Record<string, string | number>>;
  readonly values?: readonly unknown[];
  readonly options?: readonly z.core.$ZodType[];
  readonly element?: z.core.$ZodType;
  readonly items?: readonly z.core.$ZodType[];
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly keyType?: z.core.$ZodType;
  readonly valueType?: z.core.$ZodType;
  readonly format?: string;
}

/** How the values of a field are shown and edited. */
export interface DescribedField {
  readonly kind: FieldKind;
  readonly type: string;
  readonly isNullable: boolean;
  readonly choices: readonly (string | number)[];
}

const wrappers: ReadonlySet<string> = new Set([
  ...["optional", "exactOptional", "nullable", "default", "prefault", "nonoptional"],
  ...["readonly", "catch", "lazy", "pipe"],
]);
const simple: Readonly<Record<string, FieldKind>> = {
  string: "string",
  template_literal: "string",
  number: "number",
  int: "number",
  bigint: "bigint",
  boolean: "boolean",
  date: "date",
};
/** Deeper types are shortened. */
const maxDepth = 2;

/** Describes the stored values of a field by its schema. */
export function fieldKind(schema: z.core.$ZodType): DescribedField {
  const { inner, isNullable } = unwrapped(schema);
  const def = definitionOf(inner);
  const choices = choicesOf(def);
  const type = typeText(inner, 0);
  if (choices.length > 0) return { kind: "choice", type, isNullable, choices };
  const kind = isBytes(inner) ? "bytes" : (simple[def.type] ?? "data");
  return { kind, type, isNullable, choices };
}

function definitionOf(schema: z.core.$ZodType): Definition {
  return schema._zod.def as unknown as Definition;
}

function unwrapped(schema: z.core.$ZodType): { inner: z.core.$ZodType; isNullable: boolean } {
  let isNullable = false;
  let inner = schema;
  for (let def = definitionOf(inner); wrappers.has(def.type); def = definitionOf(inner)) {
    if (def.type === "nullable") isNullable = true;
    const next = def.type === "pipe" ? outputOf(def) : (def.innerType ?? def.getter?.());
    if (next === undefined || next === inner) break;
    inner = next;
  }
  return { inner, isNullable };
}

/** A pipe stores its output, unless a transform makes that and nothing describes it. */
function outputOf({ in: input, out }: Definition): z.core.$ZodType | undefined {
  return out !== undefined && definitionOf(out).type === "transform" ? input : out;
}

function choicesOf({ type, entries = {}, values = [] }: Definition): (string | number)[] {
  const all = type === "enum" ? enumValues(entries) : type === "literal" ? values : [];
  const isChoice = (value: unknown): value is string | number =>
    typeof value === "string" || typeof value === "number";
  return all.every(isChoice) ? [...new Set(all)] : [];
}

/** An enum of TypeScript with numbers also has the name of each number. */
function enumValues(entries: Readonly<Record<string, string | number>>): (string | number)[] {
  const numbers = new Set(Object.values(entries).filter((value) => typeof value === "number"));
  return Object.entries(entries).flatMap(([name, value]) =>
    numbers.has(Number(name)) ? [] : [value],
  );
}

function isBytes(schema: z.core.$ZodType): boolean {
  return schema._zod.bag["Class"] === Uint8Array;
}

function typeText(schema: z.core.$ZodType, depth: number): string {
  const { inner, isNullable } = unwrapped(schema);
  const text = ownText(inner, depth);
  return isNullable && depth > 0 ? `${text} | null` : text;
}

function ownText(schema: z.core.$ZodType, depth: number): string {
  const def = definitionOf(schema);
  const choices = choicesOf(def);
  if (choices.length > 0) return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  if (isBytes(schema)) return "Uint8Array";
  if (depth > maxDepth) return "…";
  const text = (of: z.core.$ZodType | undefined) => (of ? typeText(of, depth + 1) : "unknown");
  switch (def.type) {
    case "string":
      return def.format === undefined ? "string" : `string (${def.format})`;
    case "date":
      return "Date";
    case "array":
      return `${text(def.element)}[]`;
    case "tuple":
      return `[${(def.items ?? []).map(text).join(", ")}]`;
    case "set":
      return `Set<${text(def.valueType)}>`;
    case "map":
      return `Map<${text(def.keyType)}, ${text(def.valueType)}>`;
    case "record":
      return `{ [key]: ${text(def.valueType)} }`;
    case "union":
      return (def.options ?? []).map(text).join(" | ");
    case "object": {
      const fields = Object.entries(def.shape ?? {});
      return `{ ${fields.map(([name, of]) => `${name}: ${text(of)}`).join("; ")} }`;
    }
    default:
      return def.type;
  }
}
