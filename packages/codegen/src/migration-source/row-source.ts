import { isDeepStrictEqual } from "node:util";
import {
  type FieldManifest,
  type JsonSchema,
  type RowManifest,
  rowManifest,
} from "@keywright/orm/codegen";
import type Typescript from "typescript";
import * as z from "zod";
import { pascalCase } from "../types/identifiers.js";
import { otherFields } from "./change-source.js";
import { canBeVariable, jsonSource, nameSource } from "./literal-source.js";
import { objectSource, type SchemaConstants, schemaSource, withOptional } from "./schema-source.js";

export interface RowSourceOptions {
  readonly side: "from" | "to";
  /** The names that are already used. The names of new constants are added. */
  readonly taken: Set<string>;
  /** The names of the model's fields. These are written first, in this order. */
  readonly order: readonly string[];
  /** The argument of `.default` as code, by the name of the field. */
  readonly defaults: ReadonlyMap<string, string>;
  /** True if the schema refuses unknown fields. */
  readonly isStrict: boolean;
}

export interface RowSource {
  readonly constants: readonly string[];
  readonly text: string;
  /** The fields whose written schema does not match the manifest exactly. */
  readonly inexact: readonly string[];
}

/**
 * Writes a Zod schema of the rows that a manifest describes. The code of each field is run, and the
 * manifest of the result is compared with the given one. If they differ, a comment above the field
 * shows what the field must be.
 */
export async function rowSource(
  manifest: RowManifest,
  options: RowSourceOptions,
): Promise<RowSource> {
  const names = Object.keys(manifest.fields).filter((name) => name !== otherFields);
  const candidates = [
    ...inOrder(names, options.order),
    ...(Object.hasOwn(manifest.fields, otherFields) ? [otherFields] : []),
  ].map((name) => fieldSource(name, manifest.fields[name] as FieldManifest, options));
  const schemas = await runFields(candidates);
  const written = candidates.map((field, i) =>
    schemas[i] === undefined ? { ...field, constants: [], source: field.fallback } : field,
  );
  const inexact = written.flatMap(({ name }, i) =>
    isSame(fieldOf(schemas[i], name), manifest.fields[name]) ? [] : [name],
  );
  const members = written.flatMap(({ name, source, hasUnknownDefault }) => {
    if (name === otherFields) return [];
    const comments = [
      ...(inexact.includes(name) ? [inexactText(manifest.fields[name])] : []),
      ...(hasUnknownDefault ? ["The default is not known. Write it if rows may need it."] : []),
    ];
    return [
      ...comments.map((comment) => `\n// ${comment}`),
      `\n${nameSource(name)}: ${source}`,
    ].join("");
  });
  const rest = written.find(({ name }) => name === otherFields);
  const object = objectSource(members, rest?.source);
  const isStrict = options.isStrict && rest === undefined;
  return {
    constants: written.flatMap(({ constants }) => constants),
    text: isStrict ? object.replace("z.object", "z.strictObject") : object,
    inexact,
  };
}

function inOrder(names: readonly string[], order: readonly string[]): string[] {
  const known = order.filter((name) => names.includes(name));
  return [...known, ...names.filter((name) => !known.includes(name))];
}

interface FieldSource {
  readonly name: string;
  readonly constants: readonly string[];
  readonly source: string;
  /** Code that accepts any value. It is used if Zod refuses `source`. */
  readonly fallback: string;
  readonly hasUnknownDefault: boolean;
}

/** A default that throws. A guessed value would be worse. */
const unknownDefault = '() => { throw new Error("Write the default here") }';

function fieldSource(
  name: string,
  { schema, optional, defaulted }: FieldManifest,
  { side, defaults, taken }: RowSourceOptions,
): FieldSource {
  const constants: string[] = [];
  const claim = () => claimName(`${side}${pascalCase(name)}`, `${side}Part`, taken);
  const source = valueSource(schema, { claim, lines: constants });
  const isOther = name === otherFields;
  const value = defaults.get(name);
  const withDefault = (written: string, mayLack: boolean) => {
    if (isOther) return written;
    const filled = defaulted
      ? `${written}.default(${value ?? unknownDefault})`
      : `${written}${!optional && mayLack ? ".nonoptional()" : ""}`;
    return optional ? withOptional(filled) : filled;
  };
  const fallback = withDefault("z.unknown()", true);
  return {
    name,
    constants,
    source: source === undefined ? fallback : withDefault(source, isAbsent(schema)),
    fallback,
    hasUnknownDefault: !isOther && defaulted && value === undefined,
  };
}

function claimName(wanted: string, otherwise: string, taken: Set<string>): string {
  const base = canBeVariable(wanted) ? wanted : otherwise;
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}${count}`;
  taken.add(name);
  return name;
}

function valueSource(schema: JsonSchema, constants: SchemaConstants): string | undefined {
  try {
    return schemaSource(schema, constants, "union");
  } catch {
    constants.lines.length = 0;
    return undefined;
  }
}

/** True if the code that is written for a schema also accepts undefined. */
function isAbsent({ type, anyOf, ...rest }: JsonSchema): boolean {
  if (Array.isArray(anyOf)) return (anyOf as readonly JsonSchema[]).some(isAbsent);
  return type === "x-transform" || (type === undefined && Object.keys(rest).length === 0);
}

function inexactText(field: FieldManifest | undefined): string {
  return `Correct this field, so that its manifest is ${jsonSource(field)}`;
}

async function runFields(fields: readonly FieldSource[]): Promise<readonly unknown[]> {
  const { default: compiler } = await import("typescript");
  return fields.map(({ constants, source }) => run(compiler, constants, source));
}

function run(compiler: typeof Typescript, constants: readonly string[], source: string): unknown {
  const { ScriptTarget } = compiler;
  const text = `const make = (z) => { ${constants.join("\n")}\nreturn ${source}; }`;
  const { outputText } = compiler.transpileModule(text, {
    compilerOptions: { target: ScriptTarget.ESNext },
  });
  try {
    // Running the code is safe, even if the database contains malicious text: the code consists
    // only of quoted literals and checked names.
    const make = new Function(`${outputText} return make;`)() as (zod: typeof z) => unknown;
    return make(z);
  } catch {
    return undefined;
  }
}

function fieldOf(schema: unknown, name: string): FieldManifest | undefined {
  if (!(schema instanceof z.ZodType)) return undefined;
  try {
    const row = name === otherFields ? z.object({}).catchall(schema) : z.object({ [name]: schema });
    return rowManifest(row, []).fields[name];
  } catch {
    return undefined;
  }
}

/** Compares as JSON, in which 0 and -0 are the same. */
function isSame(a: FieldManifest | undefined, b: FieldManifest | undefined): boolean {
  return (
    a !== undefined &&
    b !== undefined &&
    isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))
  );
}
