import { isDeepStrictEqual } from "node:util";
import { type FieldManifest, type JsonSchema, type RowManifest, rowManifest } from "@keywright/orm";
import type Typescript from "typescript";
import * as z from "zod";
import { pascalCase } from "../types/identifiers.js";
import { canBeVariable, jsonSource, nameSource } from "./literal-source.js";
import { objectSource, type SchemaConstants, schemaSource, withOptional } from "./schema-source.js";

/** The name among a manifest's fields of all that have none. */
const otherFields = "*";

/** How a row's schema is written. */
export interface RowSourceOptions {
  /** Begins the names of constants. */
  readonly side: "from" | "to";
  /** Names that nothing else may have; those of constants come to them. */
  readonly taken: Set<string>;
  /** Those of the model, in whose order the fields stand as far as it has them. */
  readonly order: readonly string[];
  /** What stands behind `.default`, by the fields that have one. */
  readonly defaults: ReadonlyMap<string, string>;
  /** It refuses what it does not know. */
  readonly isStrict: boolean;
}

/** The schema of a row as it is written. */
export interface RowSource {
  /** Declarations that it needs. */
  readonly constants: readonly string[];
  readonly text: string;
  /** The fields that are not quite what the manifest says. */
  readonly inexact: readonly string[];
}

/**
 * Writes a Zod schema of the rows that a manifest describes. Each field is looked at: what is written is run, and its manifest
 * compared. Above one that has another is a comment with what it should be.
 */
export async function rowSource(
  manifest: RowManifest,
  options: RowSourceOptions,
): Promise<RowSource> {
  const names = Object.keys(manifest.fields).filter((name) => name !== otherFields);
  const tried = [
    ...inOrder(names, options.order),
    ...(Object.hasOwn(manifest.fields, otherFields) ? [otherFields] : []),
  ].map((name) => fieldSource(name, manifest.fields[name] as FieldManifest, options));
  const made = await schemasOf(tried);
  const written = tried.map((field, i) =>
    made[i] === undefined ? { ...field, constants: [], source: field.fallback } : field,
  );
  const inexact = written.flatMap(({ name }, i) =>
    isSame(fieldOf(made[i], name), manifest.fields[name]) ? [] : [name],
  );
  const members = written.flatMap(({ name, source, hasUnknownDefault }) => {
    if (name === otherFields) return [];
    const comments = [
      ...(inexact.includes(name) ? [inexactText(manifest.fields[name])] : []),
      ...(hasUnknownDefault
        ? ["Its default is not known here: write it where rows may need it."]
        : []),
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
  /** What takes any value: where Zod refuses the other. */
  readonly fallback: string;
  readonly hasUnknownDefault: boolean;
}

/** A default that throws: a value that nobody has thought of would be worse. */
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
  const whole = (written: string, mayLack: boolean) => {
    if (isOther) return written;
    const filled = defaulted
      ? `${written}.default(${value ?? unknownDefault})`
      : `${written}${!optional && mayLack ? ".nonoptional()" : ""}`;
    return optional ? withOptional(filled) : filled;
  };
  const fallback = whole("z.unknown()", true);
  return {
    name,
    constants,
    source: source === undefined ? fallback : whole(source, isAbsent(schema)),
    fallback,
    hasUnknownDefault: !isOther && defaulted && value === undefined,
  };
}

/** A name that is not taken, and is so from then on. */
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

/** Whether what is written for a schema takes nothing too. */
function isAbsent({ type, anyOf, ...rest }: JsonSchema): boolean {
  if (Array.isArray(anyOf)) return (anyOf as readonly JsonSchema[]).some(isAbsent);
  return type === "x-transform" || (type === undefined && Object.keys(rest).length === 0);
}

function inexactText(field: FieldManifest | undefined): string {
  return `To be written by hand, for it has to be ${jsonSource(field)}`;
}

/** Runs what was written. Undefined for what fails. */
async function schemasOf(fields: readonly FieldSource[]): Promise<readonly unknown[]> {
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
    // It is made of literals that are quoted and names that are checked, whatever the database says.
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

/** As JSON, which has one zero. */
function isSame(a: FieldManifest | undefined, b: FieldManifest | undefined): boolean {
  return (
    a !== undefined &&
    b !== undefined &&
    isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))
  );
}
