import { textOf } from "../schema/alternatives.js";
import { descriptionOf, docComment } from "../schema/doc-comment.js";
import { type InterfaceType, type ModelTypes, modelTypes } from "../schema/model-types.js";
import { propertyText, restText } from "../schema/object-type.js";
import { fieldList } from "./field-list.js";
import { indexMethods } from "./index-methods.js";
import { type Method, methodText } from "./method.js";
import type { NamedModel } from "./model-names.js";
import { NameClaims } from "./name-claims.js";
import { importSpecifier } from "./paths.js";
import { findByPrimaryKeyMethod, writeMethods } from "./row-methods.js";

/** The file of a model: its text, unformatted, and the names of the types that it exports. */
export interface ModelFile {
  readonly body: string;
  readonly types: readonly string[];
}

/**
 * Writes the file of a model: the types of its rows, and a repository with a method for each way to them.
 *
 * @param folder of the generated files.
 * @throws {TypeInexpressibleError} for a schema without types that can be written.
 * @throws {NameCollisionError} for two indexes, or an index and the primary key, whose methods have one name.
 * @throws {NameUnusableError} for an index or a field from whose name no identifier can be made.
 */
export function modelFile(named: NamedModel, folder: string): ModelFile {
  const { model, names } = named;
  const types = modelTypes(model, names);
  const methods = repositoryMethods(named, types);
  const sections = [
    importsText(named, folder, types, methods),
    interfaceText(
      names.row,
      types.row,
      descriptionOf(model.schema) ?? `A row of \`${model.name}\`.`,
    ),
    interfaceText(names.create, types.create, createDescription(named, types)),
    interfaceText(
      names.update,
      types.update,
      "The fields to change: one that is absent or undefined stays as it is.",
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

function repositoryMethods({ model, names }: NamedModel, types: ModelTypes): Method[] {
  const claims = new NameClaims();
  const claim = (methods: readonly Method[], owner: string) => {
    for (const method of methods) claims.claim(`${names.repository}.${method.name}`, owner);
    return methods;
  };
  const find = findByPrimaryKeyMethod(model, names, types);
  return [
    ...claim([find], `the primary key of model ${JSON.stringify(model.name)}`),
    ...model.indexes.flatMap((index) =>
      claim(
        indexMethods(model, index, names, types),
        `index ${JSON.stringify(index.name)} of model ${JSON.stringify(model.name)}`,
      ),
    ),
    ...claim(writeMethods(model, names, types), "writing rows"),
  ];
}

function importsText(
  { modulePath, exportName, names }: NamedModel,
  folder: string,
  types: ModelTypes,
  methods: readonly Method[],
): string {
  const signatures = methods.flatMap(({ parameters, result }) => [...parameters, result]).join();
  const listTypes = ["KeyValue", "ListOptions", "Page", "RangeFilter"].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(signatures),
  );
  const fromOrm = ["AnyDatabase", ...listTypes, "Table"].map((name) => `type ${name}`);
  const lines = [`import { ${[...fromOrm, "tableOf"].join(", ")} } from "@keywright/orm";`];
  if (types.hasReferences) {
    const specifier = JSON.stringify(importSpecifier(folder, modulePath));
    lines.push('import type * as z from "zod";');
    lines.push(`import type ${importedModel(exportName, names.model)} from ${specifier};`);
  }
  return lines.join("\n");
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
