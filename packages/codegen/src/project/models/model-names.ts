import { ModelDuplicateError, NameUnusableError } from "../../errors/codegen-errors.js";
import {
  camelCase,
  isIdentifier,
  isVariableName,
  kebabCase,
  pascalCase,
} from "../../types/identifiers.js";
import { reservedNames } from "../../types/type-names.js";
import { describeOrigin, type FoundModel } from "./found-model.js";
import { NameClaims } from "./name-claims.js";

/** The names in the code that is generated for a model. */
export interface ModelNames {
  /** The name of the file, without `.ts`. */
  readonly file: string;
  /** The name of the property of `Repositories`. */
  readonly property: string;
  readonly model: string;
  /** The prefix of the names of types. */
  readonly base: string;
  readonly row: string;
  readonly create: string;
  readonly update: string;
  readonly repository: string;
}

/** A model and the names in its generated code. */
export interface NamedModel extends FoundModel {
  readonly names: ModelNames;
}

/** Chooses the names in the code that is generated for models. */
export function nameModels(models: readonly FoundModel[]): NamedModel[] {
  assertDistinctModels(models);
  const files = new NameClaims();
  const properties = new NameClaims();
  const imports = new NameClaims();
  files.claim("index", "the index of the generated files");
  properties.claim("database", "the database of Repositories");
  properties.claim("transaction", "the transactions of Repositories");
  properties.claim("snapshot", "the snapshots of Repositories");
  for (const name of [
    "Repositories",
    "OpenRepositories",
    "OpenOptions",
    "TransactionRepositories",
    "SnapshotRepositories",
  ]) {
    imports.claim(name, "a type of index.ts");
  }
  return models.map((found) => {
    const names = namesOf(found);
    const owner = `model ${JSON.stringify(found.model.name)}, ${describeOrigin(found)}`;
    files.claim(names.file, owner);
    properties.claim(names.property, owner);
    imports.claim(names.model, owner);
    imports.claim(names.repository, owner);
    return { ...found, names };
  });
}

function assertDistinctModels(models: readonly FoundModel[]): void {
  const firstOf = new Map<string, FoundModel>();
  for (const found of models) {
    const { name } = found.model;
    const first = firstOf.get(name);
    if (first !== undefined) {
      throw new ModelDuplicateError({
        model: name,
        first: describeOrigin(first),
        second: describeOrigin(found),
      });
    }
    firstOf.set(name, found);
  }
}

function isImportable(name: string): boolean {
  return isVariableName(name) && !reservedNames.has(name);
}

function namesOf({ model, modulePath, exportName }: FoundModel): ModelNames {
  const file = kebabCase(model.name);
  const property = camelCase(model.name);
  if (!isIdentifier(property)) {
    throw new NameUnusableError({ givenName: model.name, at: "the name of a model" });
  }
  const base = pascalCase(exportName === "default" ? model.name : exportName);
  if (!isIdentifier(exportName) || !isIdentifier(base)) {
    throw new NameUnusableError({ givenName: exportName, at: `an export of ${modulePath}` });
  }
  const importName = exportName === "default" ? base : exportName;
  return {
    file,
    property,
    model: isImportable(importName) ? importName : `${importName}Model`,
    base,
    row: `${base}Row`,
    create: `${base}Create`,
    update: `${base}Update`,
    repository: `${base}Repository`,
  };
}

/** Returns the import clause that imports a model under a name: `{ User as UserModel }`. */
export function importedModel(exportName: string, name: string): string {
  if (exportName === "default") return name;
  return exportName === name ? `{ ${name} }` : `{ ${exportName} as ${name} }`;
}
