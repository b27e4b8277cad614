import { textOf } from "../schema/alternatives.js";
import { descriptionOf, docComment } from "../schema/doc-comment.js";
import { type ModelTypes, modelTypes } from "../schema/model-types.js";
import { type InterfaceType, propertyText, restText } from "../schema/object-type.js";
import { fieldList } from "./field-list.js";
import { indexMethods } from "./index-methods.js";
import { type Method, methodText } from "./method.js";
import type { NamedModel } from "./model-names.js";
import { NameClaims } from "./name-claims.js";
import { importSpecifier } from "./paths.js";
import { linkedModels, relationMethods } from "./relation-methods.js";
import { readMethods, writeMethods } from "./row-methods.js";

/** The file of a model: its text, unformatted, and the names of the types that it exports. */
export interface ModelFile {
  readonly body: string;
  readonly types: readonly string[];
}

/**
 * Writes the file of a model: the types of its rows, and a repository with a method for each way to them.
 *
 * @param folder of the generated files.
 * @param models all that are generated: relations to others have no methods.
 * @throws {TypeInexpressibleError} for a schema without types that can be written.
 * @throws {NameCollisionError} for two indexes, or an index and the primary key, whose methods have one name.
 * @throws {NameUnusableError} for an index or a field from whose name no identifier can be made.
 */
export function modelFile(
  named: NamedModel,
  folder: string,
  models: readonly NamedModel[] = [named],
): ModelFile {
  const { model, names } = named;
  const types = modelTypes(model, names);
  const methods = repositoryMethods(named, types, models);
  const sections = [
    importsText(named, folder, types, methods, models),
    interfaceText(
      names.row,
      types.row,
      descriptionOf(model.schema) ?? `A row of \`${model.name}\`.`,
    ),
    interfaceText(names.create, types.create, createDescription(named, types)),
    interfaceText(
      names.update,
      types.update,
      "The fields to change, each to a value or by an operation: one that is absent or undefined stays as it is.",
    ),
    ...types.named.map(
      ({ name, type }) =>
        `/** A part of \`${names.row}\` that contains itself. */\nexport type ${name} = ${textOf(type)};`,
    ),
    repositoryText(named, methods),
  ];
  const declared = [names.row, names.create, names.update, ...types.named.map(({ name }) => name)];
  return { body: sections.join("\n\n"), types: declared.sort() };
}

function repositoryMethods(
  { model, names }: NamedModel,
  types: ModelTypes,
  models: readonly NamedModel[],
): Method[] {
  const claims = new NameClaims();
  const claim = (methods: readonly Method[], owner: string) => {
    for (const method of methods) claims.claim(`${names.repository}.${method.name}`, owner);
    return methods;
  };
  const ofModel = `of model ${JSON.stringify(model.name)}`;
  return [
    ...claim(readMethods(model, names, types), `the primary key ${ofModel}`),
    ...model.indexes.flatMap((index) =>
      claim(
        indexMethods(model, index, names, types),
        `index ${JSON.stringify(index.name)} ${ofModel}`,
      ),
    ),
    ...linkedModels(model, models).flatMap((linked) =>
      claim(
        relationMethods(model, names, linked),
        `relation ${JSON.stringify(linked.name)} ${ofModel}`,
      ),
    ),
    ...claim(writeMethods(model, names, types), "writing rows"),
  ];
}

/** What files import from the ORM where they need it. */
const ormTypes = [
  "FieldOperation",
  "KeyValue",
  "ListOptions",
  "ManyResult",
  "RangeFilter",
  "RowQuery",
  "Versioned",
];

function importsText(
  named: NamedModel,
  folder: string,
  types: ModelTypes,
  methods: readonly Method[],
  models: readonly NamedModel[],
): string {
  const { modulePath, exportName, names, model } = named;
  const used = [
    ...methods.flatMap(({ parameters, result }) => [...parameters, result]),
    ...[...types.update.properties.map(({ type }) => type), types.update.rest].map(textOf),
  ].join();
  const fromOrm = ["AnyDatabase", "Table", ...ormTypes.filter((name) => isUsed(name, used))];
  const imported = fromOrm.sort().map((name) => `type ${name}`);
  const lines = [`import { ${[...imported, "tableOf"].join(", ")} } from "@keywright/orm";`];
  if (types.hasReferences) {
    const specifier = JSON.stringify(importSpecifier(folder, modulePath));
    lines.push('import type * as z from "zod";');
    lines.push(`import type ${importedModel(exportName, names.model)} from ${specifier};`);
  }
  const related = new Set(linkedModels(model, models).map(({ target }) => target.names));
  for (const { row, file } of [...related].sort((a, b) => (a.file < b.file ? -1 : 1))) {
    if (row !== names.row) lines.push(`import type { ${row} } from "./${file}.js";`);
  }
  return lines.join("\n");
}

function isUsed(name: string, text: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(text);
}

/** What stands in an import of a model under a name. */
export function importedModel(exportName: string, name: string): string {
  if (exportName === "default") return name;
  return exportName === name ? `{ ${name} }` : `{ ${exportName} as ${name} }`;
}

function interfaceText(name: string, type: InterfaceType, description: string): string {
  const members = [...type.properties.map(propertyText), ...restText(type.rest)];
  const comment = docComment(description);
  // An interface without members would take any value.
  if (members.length === 0) return `${comment}export type ${name} = Record<string, never>;`;
  return `${comment}export interface ${name} {\n${members.join("\n")}\n}`;
}

function createDescription({ model }: NamedModel, { create }: ModelTypes): string {
  const [id = ""] = model.generatesId ? model.primaryKey : [];
  const isDefaulted = create.properties.some(({ name, isOptional }) => isOptional && name !== id);
  const parts = [
    `What a row of \`${model.name}\` is created from`,
    ...(isDefaulted ? ["what is optional may be left out"] : []),
    ...(id === "" ? [] : [`\`${id}\` is generated where it is absent`]),
  ];
  return `${parts.join("; ")}.`;
}

function repositoryText({ model, names }: NamedModel, methods: readonly Method[]): string {
  const { repository, row, create, update } = names;
  const indexes = model.indexes.length === 0 ? "" : " and through its indexes";
  return [
    `${docComment(`The rows of \`${model.name}\`, by ${fieldList(model.primaryKey)}${indexes}.`)}export class ${repository} {`,
    `readonly #table: Table<${row}, ${create}, ${update}>;`,
    "",
    "/** @throws {ModelDefinitionError} where the database was opened without this model. */",
    "constructor(database: AnyDatabase) {",
    `this.#table = tableOf(database, ${JSON.stringify(model.name)});`,
    "}",
    ...methods.map((method) => `\n${methodText(method)}`),
    "}",
  ].join("\n");
}
