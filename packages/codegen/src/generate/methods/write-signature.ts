import type { CompiledModel } from "@keywright/orm";
import { fieldList } from "./field-list.js";

export const notFound = "{RowNotFoundError} where there is no such row.";
export const staleSchema =
  "{StaleSchemaError} where the database has indexes that this program does not know.";
export const versionConflict: readonly string[] = [
  "{VersionConflictError} where the row's versionstamp is not `ifVersion`.",
];

export const ifVersion = "ifVersion?: string | undefined";

/** The optional parameter of a write: `options?: { ifVersion?: string | undefined }`. */
export function optionsOf(...members: readonly string[]): string {
  return `options?: { ${members.join("; ")} }`;
}

/** Rows of a model that keeps counts cannot expire: nothing would count them down. */
export function canExpire(model: CompiledModel): boolean {
  return !model.counted && model.indexes.every((index) => !index.counted);
}

/** For how long a row is there, in milliseconds, where the model allows that. */
export function expiry(model: CompiledModel): string[] {
  return canExpire(model) ? ["expireIn?: number | undefined"] : [];
}

export function createOptions(model: CompiledModel): string[] {
  return canExpire(model) ? [optionsOf(...expiry(model))] : [];
}

export function updateOptions(model: CompiledModel): string {
  return optionsOf(ifVersion, ...expiry(model));
}

/** What creating and updating rows of a model may throw. */
export function writeErrors(model: CompiledModel): {
  readonly create: readonly string[];
  readonly update: readonly string[];
} {
  const invalid = "{RowInvalidError} where the schema refuses the data.";
  const unique = uniqueFields(model);
  const missing = "{ReferenceMissingError} where it refers to a row that is not there.";
  const isBound = Object.values(model.relations).some(({ kind }) => kind === "belongsTo");
  const behind = [...(isBound ? [missing] : []), staleSchema];
  return {
    create: [invalid, ...taken([fieldList(model.primaryKey), ...unique]), ...behind],
    update: [invalid, ...taken(unique), ...behind],
  };
}

/** What creating several rows throws: of each row that fails its result says so, but with `atomic` the first is thrown. */
export function createManyErrors(model: CompiledModel): readonly string[] {
  const ofRows = writeErrors(model).create.filter((error) => error !== staleSchema);
  return [
    ...ofRows.map((error) => error.replace("} ", "} with `atomic`, ")),
    "{LimitExceededError} with `atomic`, where they are more than one commit takes.",
    staleSchema,
  ];
}

/** @param key that a created row has to have, in words. */
export function upsertErrors(model: CompiledModel, key: string): readonly string[] {
  return [
    ...writeErrors(model).create,
    `{InvalidArgumentError} where the row to be created has another ${key}.`,
    ...versionConflict,
  ];
}

function uniqueFields(model: CompiledModel): string[] {
  return model.indexes.filter((index) => index.unique).map((index) => fieldList(index.fields));
}

function taken(keys: readonly string[]): string[] {
  if (keys.length === 0) return [];
  return [`{UniqueConstraintError} where another row has this ${keys.join(", or this ")}.`];
}
