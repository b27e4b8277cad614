import type { CompiledIndex, CompiledModel } from "@keywright/orm/codegen";
import {
  generatedSpecifier,
  type ImportExtension,
  importSpecifier,
} from "../project/files/paths.js";
import { importedModel, type NamedModel } from "../project/models/model-names.js";
import { NameClaims } from "../project/models/name-claims.js";
import { textOf, unionOf } from "../types/alternatives.js";
import { descriptionOf, docComment } from "../types/doc-comment.js";
import { type ModelTypes, modelTypes } from "../types/model-types.js";
import { type InterfaceType, propertyText, restText } from "../types/object-type.js";
import { codegenTypes, ormTypes } from "../types/type-names.js";
import { computedMembers, computedTypes } from "./computed-members.js";
import {
  type IndexType,
  indexMethods,
  indexType,
  primaryKeyListMethods,
} from "./methods/index-methods.js";
import { fieldList } from "./methods/parts/field-list.js";
import { type Method, methodText } from "./methods/parts/method.js";
import { relationMembers, relationsName } from "./methods/parts/relations-type.js";
import { linkedModels, referrersOf, relationMethods } from "./methods/relation-methods.js";
import { readMethods, writeMethods } from "./methods/row-methods.js";
import { searchMethods } from "./methods/search-methods.js";
import { shapeMethods } from "./methods/shape-methods.js";
import { type NestedType, nestedNames, nestedTypes, writeData } from "./nested/nested-types.js";

/** The file of a model: its text, not yet formatted, and the names of the types that it exports. */
export interface ModelFile {
  readonly body: string;
  readonly types: readonly string[];
}

/** The settings with which the file of a model is written. */
export interface FileOptions {
  /** The references to write for types that only the compiler knows. */
  readonly referred?: ReadonlySet<string> | undefined;
  /** The types of computed index parts, by the name of the index. */
  readonly computed?: ReadonlyMap<string, string> | undefined;
  /** The extension of imported modules. The default is `js`. */
  readonly extension?: ImportExtension | undefined;
}

/**
 * Returns the file of a model: the types of its rows, and a repository with a method for each way
 * to access them.
 *
 * @param folder the folder of the generated files.
 * @param models all models that are generated. Relations to other models have no methods.
 * @throws {TypeInexpressibleError} if a schema has no types that can be written.
 * @throws {NameCollisionError} if the methods of two indexes, or of an index and the primary key,
 * have the same name.
 * @throws {NameUnusableError} if no identifier can be made from the name of an index or a field.
 */
export function modelFile(
  named: NamedModel,
  folder: string,
  models: readonly NamedModel[] = [named],
  { referred, computed, extension }: FileOptions = {},
): ModelFile {
  const { model, names } = named;
  const types = modelTypes(model, names, { referred, computed });
  const indexTypes = typesOfIndexes(named, types);
  const methods = repositoryMethods(named, types, models);
  const relations = relationMembers(model, models);
  const nested = nestedTypes(named, types, models);
  const sections = [
    importsText(named, {
      folder,
      types,
      indexTypes,
      relations,
      nested,
      methods,
      models,
      extension,
    }),
    interfaceText(
      names.row,
      withComputedRest(named, types.row),
      descriptionOf(model.schema) ?? `A row of \`${model.name}\`.`,
      computedMembers(named),
    ),
    interfaceText(names.create, types.create, createDescription(named, types)),
    interfaceText(
      names.update,
      types.update,
      "The fields to change, each with a new value or an operation. A field that is absent or undefined stays unchanged.",
    ),
    ...types.named.map(
      ({ name, type }) =>
        `/** A recursive part of \`${names.row}\`. */\nexport type ${name} = ${textOf(type)};`,
    ),
    ...indexTypes.map(
      ({ name, description, type }) => `${docComment(description)}export type ${name} = ${type};`,
    ),
    ...(relations.length === 0 ? [] : [relationsText(named, relations)]),
    ...nested.map(({ text }) => text),
    repositoryText(named, methods),
  ];
  const otherTypes = [...types.named, ...indexTypes, ...nested].map(({ name }) => name);
  if (relations.length > 0) otherTypes.push(relationsName(names));
  const declared = [names.row, names.create, names.update, ...otherTypes];
  return { body: sections.join("\n\n"), types: declared.sort() };
}

/** Returns the indexes that queries can name, without those that only serve minima and maxima. */
function declaredIndexes({ indexes }: CompiledModel): readonly CompiledIndex[] {
  return indexes.filter(({ isHidden }) => !isHidden);
}

/** Returns the types that index methods take. Their names are unique in the file. */
function typesOfIndexes(named: NamedModel, types: ModelTypes): IndexType[] {
  const { model, names } = named;
  const claims = new NameClaims();
  for (const { name } of types.named) claims.claim(name, `a part of ${names.row}`);
  return [undefined, ...declaredIndexes(model)].flatMap((index) => {
    const type = indexType(named, index, types);
    if (type === undefined) return [];
    const key = index === undefined ? "the primary key" : `index ${JSON.stringify(index.name)}`;
    const owner = `${key} of model ${JSON.stringify(model.name)}`;
    claims.claim(type.name, owner);
    return [type];
  });
}

function repositoryMethods(
  named: NamedModel,
  types: ModelTypes,
  models: readonly NamedModel[],
): Method[] {
  const { model, names } = named;
  const claims = new NameClaims();
  const claim = (methods: readonly Method[], owner: string) => {
    for (const method of methods) claims.claim(`${names.repository}.${method.name}`, owner);
    return methods;
  };
  const ofModel = `of model ${JSON.stringify(model.name)}`;
  const linked = linkedModels(model, models);
  const data = writeData(named, models);
  return [
    ...claim(shapeMethods(model, names, linked[0]), "the shape of rows"),
    ...claim(
      [...readMethods(named, types), ...primaryKeyListMethods(named, types)],
      `the primary key ${ofModel}`,
    ),
    ...declaredIndexes(model).flatMap((index) =>
      claim(
        indexMethods(named, index, types, data),
        `index ${JSON.stringify(index.name)} ${ofModel}`,
      ),
    ),
    ...claim(searchMethods(named, types), `the full-text indexes ${ofModel}`),
    ...linked.flatMap((each) =>
      claim(
        relationMethods(model, names, each),
        `relation ${JSON.stringify(each.name)} ${ofModel}`,
      ),
    ),
    ...claim(writeMethods(model, names, types, referrersOf(model, models), data), "writing rows"),
  ];
}

/** The module from which generated files import what only they use. */
export const runtimeModule = "@keywright/orm/codegen";

/** The parts of a file that determine its imports. */
interface ImportSources {
  readonly folder: string;
  readonly types: ModelTypes;
  readonly indexTypes: readonly IndexType[];
  readonly relations: readonly string[];
  readonly nested: readonly NestedType[];
  readonly methods: readonly Method[];
  readonly models: readonly NamedModel[];
  readonly extension: ImportExtension | undefined;
}

function importsText(
  named: NamedModel,
  { folder, types, indexTypes, relations, nested, methods, models, extension }: ImportSources,
): string {
  const { modulePath, exportName, names, model } = named;
  const used = [
    ...indexTypes.map(({ type }) => type),
    ...relations,
    ...nested.map(({ text }) => text),
    ...methods.flatMap(({ typeParameters = "", parameters, result }) => [
      typeParameters,
      ...parameters,
      result,
    ]),
    ...[...types.update.properties.map(({ type }) => type), types.update.rest].map(textOf),
    ...computedTypes(named),
  ].join();
  const fromOrm = ["AnyDatabase", ...ormTypes.filter((name) => isUsed(name, used))].sort();
  const fromCodegen = ["Rows", ...codegenTypes.filter((name) => isUsed(name, used))]
    .sort()
    .map((name) => `type ${name}`);
  const lines = [
    `import type { ${fromOrm.join(", ")} } from "@keywright/orm";`,
    `import { ${[...fromCodegen, "rowsOf"].join(", ")} } from "${runtimeModule}";`,
  ];
  if (types.hasReferences) lines.push('import type * as z from "zod";');
  const hasComputed = model.computed.size > 0;
  if (types.hasReferences || hasComputed || used.includes(`typeof ${names.model}.indexes`)) {
    const specifier = JSON.stringify(importSpecifier(folder, modulePath, extension));
    lines.push(`import type ${importedModel(exportName, names.model)} from ${specifier};`);
  }
  const related = new Set(
    linkedModels(model, models).flatMap(({ target, through }) =>
      through === undefined ? [target] : [target, through],
    ),
  );
  const byFile = [...related].sort((a, b) => (a.names.file < b.names.file ? -1 : 1));
  for (const target of byFile) {
    const { names: each } = target;
    if (each.row === names.row) continue;
    const imported = [relationsName(each), each.row, ...nestedNames(target, models)];
    const types = [...new Set(imported)].filter((name) => isUsed(name, used));
    lines.push(
      `import type { ${types.sort().join(", ")} } from "${generatedSpecifier(each.file, extension)}";`,
    );
  }
  return lines.join("\n");
}

function isUsed(name: string, text: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(text);
}

/** An index signature must include the types of all properties. */
function withComputedRest(named: NamedModel, type: InterfaceType): InterfaceType {
  if (type.rest.length === 0) return type;
  return { ...type, rest: unionOf(type.rest, computedTypes(named)) };
}

function interfaceText(
  name: string,
  type: InterfaceType,
  description: string,
  computed: readonly string[] = [],
): string {
  const members = [...type.properties.map(propertyText), ...computed, ...restText(type.rest)];
  const comment = docComment(description);
  // An interface without members would accept any value.
  if (members.length === 0) return `${comment}export type ${name} = Record<string, never>;`;
  return `${comment}export interface ${name} {\n${members.join("\n")}\n}`;
}

function relationsText({ model, names }: NamedModel, members: readonly string[]): string {
  const comment = docComment(
    `The relations of \`${model.name}\`: the related rows, their relations, and the fields by which the rows of a relation can be restricted and sorted.`,
  );
  return `${comment}export interface ${relationsName(names)} {\n${members.join("\n")}\n}`;
}

function createDescription({ model }: NamedModel, { create }: ModelTypes): string {
  const [id = ""] = model.generatesId ? model.primaryKey : [];
  const isDefaulted = create.properties.some(({ name, isOptional }) => isOptional && name !== id);
  return [
    `The data of a new row of \`${model.name}\`.`,
    ...(isDefaulted ? ["Optional fields can be left out."] : []),
    ...(id === "" ? [] : [`\`${id}\` is generated if it is absent.`]),
  ].join(" ");
}

/** The paragraphs in the comment of a repository that apply to most of its methods. */
const commonErrors = `Methods that find rows by the values of fields throw \`InvalidQueryError\` if a value is undefined or has the wrong type, or if there is no such field. Where a method takes conditions, an object in place of a value is one: give input from outside the program as \`{ equals: value }\`. Methods that use an index throw \`IndexNotReadyError\` if it is not built yet, and methods that find many rows \`ReadLimitError\` if they need more reads than \`maxReads\`.

Methods that write many rows write about 100 rows in a commit. A row that fails does not prevent the others, and its error is in its result. With \`atomic: true\`, all rows are written in one commit, or none, and the first error is thrown.`;

function repositoryText({ model, names }: NamedModel, methods: readonly Method[]): string {
  const { repository, row } = names;
  const indexes = model.indexes.length === 0 ? "" : " and through its indexes";
  const comment = docComment(
    `The rows of \`${model.name}\`, by ${fieldList(model.primaryKey)}${indexes}.\n\n${commonErrors}`,
  );
  return [
    `${comment}export class ${repository}<Row = ${row}> {`,
    "readonly #rows: Rows;",
    "",
    "/** @throws {ModelDefinitionError} if the database was opened without this model. */",
    "constructor(database: AnyDatabase | Rows) {",
    `this.#rows = rowsOf(database, ${JSON.stringify(model.name)});`,
    "}",
    ...methods.map((method) => `\n${methodText(method)}`),
    "}",
  ].join("\n");
}
