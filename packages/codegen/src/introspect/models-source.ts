import { rowManifest } from "@keywright/orm/codegen";
import { format } from "prettier";
import * as z from "zod";
import { formatKey } from "../inspect/entries/format-key.js";
import { canBeVariable, jsonSource, nameSource } from "../migration-source/literal-source.js";
import { rowSource } from "../migration-source/row-source.js";
import { camelCase, pascalCase } from "../types/identifiers.js";
import type { EntryPlace } from "./entry-place.js";
import type { Inference, InferredIndex, InferredModel, RowCondition } from "./inferred-model.js";

/** How many prefixes of entries that are not recognized are listed. */
const maxOthers = 50;

/** Returns a module with the models, and layouts for `adopt` if other libraries wrote the data. */
export async function modelsSource({ models, others, entries }: Inference): Promise<string> {
  const taken = new Set(["z", "defineModel", "kvdexLayout", "pentagonLayout", "layouts"]);
  const definitions: string[] = [];
  for (const model of models) definitions.push(await modelSource(model, taken));
  const adopted = models.filter(({ layout }) => layout !== "guide");
  const layoutNames = [...new Set(adopted.map(({ layout }) => `${layout}Layout`))].sort();
  const imports = [
    ...(models.length > 0 ? ['import { defineModel } from "@keywright/orm";'] : []),
    ...(adopted.length > 0
      ? [`import { ${layoutNames.join(", ")} } from "@keywright/orm/adopt";`]
      : []),
    ...(models.length > 0 ? ['import * as z from "zod";'] : []),
  ];
  const text = [
    `// Inferred by \`keywright introspect\` from ${counted(entries, "entry", "entries")}. Check every`,
    "// definition: data can only show what was stored, not what may be stored.",
    ...others.slice(0, maxOthers).map((place) => `// Not recognized: ${placeText(place)}`),
    ...(others.length > maxOthers
      ? [`// and entries under ${others.length - maxOthers} others`]
      : []),
    "",
    ...imports,
    "",
    definitions.join("\n\n"),
    "",
    ...(adopted.length > 0 ? layoutsSource(adopted) : []),
  ].join("\n");
  return await format(text, { parser: "typescript", printWidth: 100 });
}

async function modelSource(model: InferredModel, taken: Set<string>): Promise<string> {
  const { name, rows, primaryKey, indexes, layout } = model;
  const { schema, order } = rowSchema(model);
  const row = await rowSource(rowManifest(schema, [...primaryKey]), {
    side: "from",
    taken,
    order,
    defaults: new Map(),
    isStrict: false,
  });
  const [only] = primaryKey;
  const key = primaryKey.length === 1 ? jsonSource(only) : jsonSource(primaryKey);
  const members = [
    `name: ${jsonSource(name)}`,
    `schema: ${row.text}`,
    `primaryKey: ${key}`,
    ...(indexes.length > 0
      ? [`indexes: {\n${indexes.map((index) => indexSource(model, index)).join("\n")}\n}`]
      : []),
  ];
  const from = `Inferred from ${placeText(rows)}${layout === "guide" ? "" : `, written by ${layout}`}.`;
  return [
    ...row.constants,
    ...[from, ...notesOf(model)].map((line) => `// ${line}`),
    `export const ${exportName(name, taken)} = defineModel({ ${members.join(",\n")} });`,
  ].join("\n");
}

/** Returns the schema of the rows, with the fields of the id if the rows do not contain it. */
function rowSchema({ rows, primaryKey, isEncoded }: InferredModel): {
  readonly schema: z.ZodObject;
  readonly order: readonly string[];
} {
  const shape: Record<string, z.ZodType> = {};
  for (const [i, field] of primaryKey.entries()) shape[field] = keySchema(rows, i);
  if (!isEncoded) {
    for (const [field, schema] of Object.entries(rows.shape.objectSchema().shape)) {
      shape[field] ??= schema as z.ZodType;
    }
  }
  return { schema: z.object(shape), order: Object.keys(shape) };
}

/** Returns the schema of a part of the primary key. */
function keySchema({ partTypes, samples, prefix }: EntryPlace, position: number): z.ZodType {
  const parts = samples.map(({ key }) => key[prefix.length + position]);
  const types = [...(partTypes[position] ?? [])].map((type): z.ZodType => {
    switch (type) {
      case "number":
        return parts.every((part) => typeof part !== "number" || Number.isSafeInteger(part))
          ? z.int()
          : z.number();
      case "bigint":
        return z.bigint();
      case "boolean":
        return z.boolean();
      case "bytes":
        return z.instanceof(Uint8Array);
      default:
        return stringSchema(parts);
    }
  });
  const [first = z.string(), ...others] = types;
  return others.length === 0 ? first : z.union([first, ...others]);
}

function stringSchema(parts: readonly unknown[]): z.ZodType {
  const formats = [z.ulid(), z.uuid()];
  return (
    formats.find((schema) => parts.every((part) => schema.safeParse(part).success)) ?? z.string()
  );
}

function notesOf({ rows, missingId, isEncoded, primaryKey, layout }: InferredModel): string[] {
  const notes: string[] = [];
  if (isEncoded) {
    notes.push("The documents are encoded: write their fields, and `encoder` in the layout.");
  } else {
    for (const field of rows.shape.fieldNames) {
      const without = rows.shape.countWithout(field);
      if (without > 0)
        notes.push(`${nameSource(field)}: absent in ${counted(without, "row", "rows")}.`);
    }
  }
  if (missingId && layout === "guide") {
    notes.push(
      `The rows do not contain ${primaryKey.map(nameSource).join(", ")}, only their keys do. Adopt them into another database, with guideLayout.`,
    );
  }
  return notes;
}

function indexSource({ name: model, layout }: InferredModel, index: InferredIndex): string {
  const { name, fields, isUnique, isEach, isLowerCase, hasCopies, prefix, entries } = index;
  const { where, missing } = index;
  const [only] = fields;
  const [first] = prefix;
  const options = [
    `key: ${fields.length === 1 ? jsonSource(only) : jsonSource(fields)}`,
    ...(isUnique ? ["unique: true"] : []),
    ...(isEach ? ["each: true"] : []),
    ...(where === undefined ? [] : [`where: ${whereSource(where)}`]),
    ...(isLowerCase ? ['normalize: "lowercase"'] : []),
    ...(layout === "guide" && hasCopies ? ['store: "copy"'] : []),
    ...(layout === "guide" && first !== `${model}_${snakeCase(name)}`
      ? [`prefix: ${jsonSource(first)}`]
      : []),
  ];
  const comments = [
    `From ${counted(entries, "entry", "entries")} under ${formatKey(prefix)}.`,
    ...(missing === undefined
      ? []
      : [
          `${counted(missing, "entry is", "entries are")} missing for rows with these fields: add \`where\` if it is an index of some rows.`,
        ]),
  ];
  return `${comments.map((line) => `// ${line}`).join("\n")}\n${nameSource(name)}: { ${options.join(", ")} },`;
}

function whereSource(where: RowCondition): string {
  const members = Object.entries(where).map(
    ([field, value]) => `${nameSource(field)}: ${jsonSource(value)}`,
  );
  return `{ ${members.join(", ")} }`;
}

/** `byFavoriteColor` → `by_favorite_color`, as in the default prefix of an index. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}

function layoutsSource(models: readonly InferredModel[]): string[] {
  const members = models.map(
    (model) => `${nameSource(camelCase(model.name))}: ${layoutSource(model)},`,
  );
  return [
    "",
    ...(models.some(({ layout, rows }) => layout === "kvdex" && rows.parts === 1)
      ? ["// kvdex 3 and 4 store documents in the same way, and `version: 4` reads both."]
      : []),
    "/** For `adopt: { from, models: layouts }` in keywright.config.ts. */",
    `export const layouts = {\n${members.join("\n")}\n};`,
  ];
}

function layoutSource({ layout, name, rows, primaryKey, indexes }: InferredModel): string {
  const kinds = (unique: string, other: string) =>
    indexes
      .map(({ fields, isUnique }) => `${nameSource(fields.join())}: "${isUnique ? unique : other}"`)
      .join(", ");
  if (layout === "kvdex") {
    const path = rows.prefix.slice(1, -1);
    const collection = jsonSource(path.length === 1 ? path[0] : path);
    const indices = indexes.length > 0 ? `, indices: { ${kinds("primary", "secondary")} }` : "";
    return `kvdexLayout({ version: 4, collection: ${collection}${indices} })`;
  }
  const key = primaryKey.join() === "id" ? "" : `, primaryKey: ${jsonSource(primaryKey[0])}`;
  return `pentagonLayout({ table: ${jsonSource(name)}${key}, indexes: { ${kinds("unique", "index")} } })`;
}

/** `users` → `User`, unless that name is taken. */
function exportName(name: string, taken: Set<string>): string {
  const pascal = pascalCase(name);
  const singular = /[^aius]s$/.test(pascal) ? pascal.slice(0, -1) : pascal;
  const base = canBeVariable(singular) ? singular : "Model";
  let chosen = base;
  for (let count = 2; taken.has(chosen); count++) chosen = `${base}${count}`;
  taken.add(chosen);
  return chosen;
}

function placeText({ prefix, parts, count }: EntryPlace): string {
  const rest = parts === 1 ? "one more part" : `${parts} more parts`;
  return `${counted(count, "entry", "entries")} under ${formatKey(prefix)} with ${rest}`;
}

function counted(count: number, one: string, several: string): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : several}`;
}
