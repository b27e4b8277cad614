import type { CompiledModel } from "@keywright/orm";
import { fieldList } from "./field-list.js";
import type { ModelNames } from "./model-names.js";

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

export function upsertData(names: ModelNames): string {
  return `data: { create: ${names.create}; update: ${names.update} }`;
}

/** What creating and updating rows of a model may throw. */
export function writeErrors(model: CompiledModel): {
  readonly create: readonly string[];
  readonly update: readonly string[];
} {
  const invalid = "{RowInvalidError} where the schema refuses the data.";
  const unique = model.indexes
    .filter((index) => index.unique)
    .map((index) => fieldList(index.fields));
  const isBound = Object.values(model.relations).some(({ kind }) => kind === "belongsTo");
  const behind = [
    ...(isBound ? ["{ReferenceMissingError} where it refers to a row that is not there."] : []),
    staleSchema,
  ];
  return {
    create: [invalid, ...taken([fieldList(model.primaryKey), ...unique]), ...behind],
    update: [invalid, ...taken(unique), ...behind],
  };
}

function taken(keys: readonly string[]): string[] {
  if (keys.length === 0) return [];
  return [`{UniqueConstraintError} where another row has this ${keys.join(", or this ")}.`];
}
