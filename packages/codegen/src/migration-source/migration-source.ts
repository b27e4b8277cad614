import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  compareRows,
  type RenamedField,
  type RowManifest,
  renamedField,
} from "@keywright/orm/codegen";
import type { ChangedRows } from "@keywright/orm/migrate";
import { format } from "prettier";
import type * as z from "zod";
import { type ImportExtension, importSpecifier } from "../project/files/paths.js";
import { importedModel, type NamedModel } from "../project/models/model-names.js";
import { camelCase, pascalCase } from "../types/identifiers.js";
import { changeSource, placeholder } from "./change-source.js";
import { canBeVariable, jsonSource, literalSource } from "./literal-source.js";
import { rowSource } from "./row-source.js";

export interface MigrationInput {
  readonly name: string;
  readonly model: NamedModel;
  readonly rows: ChangedRows;
  readonly folder: string;
  readonly extension: ImportExtension;
}

export interface MigrationModule {
  readonly text: string;
  readonly exportName: string;
  readonly toWrite: FieldsToWrite;
}

/** The fields of schemas and of returned rows that the author of a migration has to write. */
export interface FieldsToWrite {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly up: readonly string[];
  readonly down: readonly string[];
}

/** True if the primary key of the rows changed. No migration can change it. */
export function changesPrimaryKey({ from, to }: ChangedRows): boolean {
  return compareRows(from, to).some(
    ({ field, class: step }) =>
      step === "breaking" && (to.primaryKey.includes(field) || to.primaryKey.join(",") === field),
  );
}

export async function migrationSource(outline: MigrationInput): Promise<MigrationModule> {
  const { name, model: named, rows, folder, extension } = outline;
  const { names, modulePath, exportName: modelExport, model } = named;
  const taken = new Set(["z", "defineMigration", placeholder, names.model]);
  const exportName = exportNameOf(name, taken);
  taken.add(exportName);
  const rename = renamedField(rows.from, rows.to);
  const defaults = await defaultSources(model.schema);
  const to = withoutFilled(rows, defaults, rename);
  const common = { order: Object.keys(model.schema.shape), taken, isStrict: false };
  const fromSource = await rowSource(rows.from, {
    ...common,
    side: "from",
    defaults: defaultsBefore(rows, defaults, rename),
  });
  const isStrict = model.schema._zod.def.catchall?._zod.def.type === "never";
  const toSource = await rowSource(to, { ...common, side: "to", defaults, isStrict });
  const up = changeSource(rows.from, to, rename);
  const renameBack = rename && { from: rename.to, to: rename.from };
  const down = changeSource(to, rows.from, renameBack);
  const specifier = importSpecifier(folder, modulePath, extension);
  const lines = [
    'import { defineMigration } from "@keywright/orm";',
    'import * as z from "zod";',
    `import ${importedModel(modelExport, names.model)} from ${jsonSource(specifier)};`,
    "",
    ...[...fromSource.constants, ...toSource.constants].flatMap((constant) => [constant, ""]),
    "// `up` converts a row of `from` to a row of `to`, and `down` converts it back.",
    "// Leave out `down` if rows cannot be converted back.",
    "// Do not change these schemas when the model changes later.",
    ...leftOutComment(rows.to, to),
    ...([...up.values, ...down.values].length === 0
      ? []
      : [`// Replace each ${placeholder} by a value.`]),
    `export const ${exportName} = defineMigration({`,
    `name: ${jsonSource(name)},`,
    `model: ${names.model},`,
    `from: ${fromSource.text},`,
    `to: ${toSource.text},`,
    `up: ${up.text},`,
    `down: ${down.text},`,
    "});",
  ];
  return {
    text: await format(lines.join("\n"), { parser: "typescript", printWidth: 100 }),
    exportName,
    toWrite: { from: fromSource.inexact, to: toSource.inexact, up: up.values, down: down.values },
  };
}

function exportNameOf(name: string, taken: ReadonlySet<string>): string {
  const names = [camelCase(name), `migration${pascalCase(name)}`];
  return names.find((one) => canBeVariable(one) && !taken.has(one)) ?? "migration";
}

/**
 * Returns the rows that a migration creates: those of the model, without new fields whose defaults
 * cannot be written. The model itself fills these in after the migration. If nothing else is new,
 * no field is left out.
 */
function withoutFilled(
  { from, to }: ChangedRows,
  defaults: ReadonlyMap<string, string>,
  rename: RenamedField | undefined,
): RowManifest {
  const isWritten = ([field, { defaulted }]: [string, { readonly defaulted: boolean }]) =>
    !defaulted || defaults.has(field) || Object.hasOwn(from.fields, field) || field === rename?.to;
  const fields = Object.fromEntries(Object.entries(to.fields).filter(isWritten));
  const reduced = { ...to, hash: "", fields };
  return compareRows(from, reduced).length === 0 ? to : reduced;
}

function leftOutComment(model: RowManifest, { fields }: RowManifest): string[] {
  const names = Object.keys(model.fields).filter((name) => !Object.hasOwn(fields, name));
  const list = names.map((name) => jsonSource(name)).join(", ");
  return names.length === 0 ? [] : [`// The model fills in the fields that \`to\` lacks: ${list}.`];
}

/** Returns the defaults of earlier fields that the model still has, perhaps renamed. */
function defaultsBefore(
  { from, to }: ChangedRows,
  defaults: ReadonlyMap<string, string>,
  rename: RenamedField | undefined,
): Map<string, string> {
  const defaultEntries = Object.keys(from.fields).flatMap((field) => {
    const name = field === rename?.from ? rename.to : field;
    const value = isDeepStrictEqual(from.fields[field], to.fields[name])
      ? defaults.get(name)
      : undefined;
    return value === undefined ? [] : [[field, value] as const];
  });
  return new Map(defaultEntries);
}

/** A wait, in milliseconds, that is longer than one step of the clock. */
const waitMs = 5;

/** The maximum age, in milliseconds, of a default that is assumed to be the current time. */
const maxAgeMs = 60_000;

/**
 * Returns the defaults of a model's fields as code for the argument of `.default`, by the name of
 * the field. Defaults that cannot be written are left out, and so are defaults that differ on each
 * call, except for the current time.
 */
async function defaultSources(schema: z.ZodObject): Promise<Map<string, string>> {
  const first = defaultsOf(schema);
  await setTimeout(waitMs);
  const second = defaultsOf(schema);
  const sources = new Map<string, string>();
  for (const [field, value] of first) {
    const source = defaultSource(value, second.get(field));
    if (source !== undefined) sources.set(field, source);
  }
  return sources;
}

function defaultsOf({ shape }: z.ZodObject): Map<string, unknown> {
  const defaults = new Map<string, unknown>();
  for (const [field, schema] of Object.entries<z.ZodType>(shape)) {
    try {
      const result = schema.safeParse(undefined);
      if (result.success && result.data !== undefined) defaults.set(field, result.data);
    } catch {
      // The field is parsed asynchronously, or one of its functions throws.
    }
  }
  return defaults;
}

function defaultSource(first: unknown, second: unknown): string | undefined {
  if (first instanceof Date && second instanceof Date && first < second) {
    return Date.now() - first.getTime() < maxAgeMs ? "() => new Date()" : undefined;
  }
  if (!isDeepStrictEqual(first, second)) return undefined;
  try {
    return literalSource(first);
  } catch {
    return undefined;
  }
}
