import type { CompiledModel } from "@keywright/orm/codegen";
import { fieldList } from "./field-list.js";

export const notFound = "{RowNotFoundError} if there is no such row.";
export const staleSchema =
  "{StaleSchemaError} if the database has an index that this program does not know.";
export const versionConflict: readonly string[] = [
  "{VersionConflictError} if the versionstamp of the row is not `ifVersion`.",
];

/** The end of a sentence about the cost of a write. */
export const moreIfContended = "or more if others write the row at the same time";

const ifVersion = "ifVersion?: string | undefined";

/** Returns the optional parameter of a write: `options?: { ifVersion?: string | undefined }`. */
export function optionsOf(...members: readonly string[]): string {
  return `options?: { ${members.join("; ")} }`;
}

/** The time after which a row expires, in milliseconds. */
export const expireIn = "expireIn?: number | undefined";

export const createOptions: string = optionsOf(expireIn);

export const deleteOptions: string = optionsOf(ifVersion);

export const restoreOptions: string = optionsOf("cascade?: boolean | undefined", ifVersion);

export const readOptions = "options?: ReadOptions";

/** Returns the options of a read by the primary key, which can also find deleted rows. */
export function orDeleted({ softDelete }: CompiledModel, options: string): string {
  return softDelete === undefined ? options : `${options} & WithDeleted`;
}

/** The result of a method that writes many rows. */
export const manyRows = "Promise<ManyResult<Row>>";

export const resultOfEach = "Returns the result of each row.";

export const updateOptions: string = optionsOf(ifVersion, expireIn);

/** Returns the errors of creating and of updating a row of a model. */
export function writeErrors(model: CompiledModel): {
  readonly create: readonly string[];
  readonly update: readonly string[];
} {
  const invalid = "{RowInvalidError} if the schema refuses the data.";
  const unique = uniqueFields(model);
  const missing = "{ReferenceMissingError} if it refers to a row that does not exist.";
  const hasReferences = Object.values(model.relations).some(({ kind }) => kind === "belongsTo");
  const commonErrors = [...(hasReferences ? [missing] : []), staleSchema];
  return {
    create: [invalid, ...uniqueErrors([fieldList(model.primaryKey), ...unique]), ...commonErrors],
    update: [invalid, ...uniqueErrors(unique), ...commonErrors],
  };
}

/**
 * Returns the errors of creating several rows. The result contains the error of each row that
 * fails. With `atomic` the first error is thrown instead.
 */
export function createManyErrors(model: CompiledModel): readonly string[] {
  const ofRows = writeErrors(model).create.filter((error) => error !== staleSchema);
  return [
    ...ofRows.map((error) => error.replace("} if ", "} if `atomic` is true and ")),
    "{LimitExceededError} if `atomic` is true and one commit cannot contain all rows.",
    staleSchema,
  ];
}

/**
 * Returns the errors of an upsert.
 *
 * @param key the key that a created row must have, in words.
 */
export function upsertErrors(model: CompiledModel, key: string): readonly string[] {
  return [
    ...writeErrors(model).create,
    `{InvalidArgumentError} if the new row would have another ${key}.`,
    ...versionConflict,
  ];
}

function uniqueFields(model: CompiledModel): string[] {
  return model.indexes.filter((index) => index.unique).map((index) => fieldList(index.fields));
}

function uniqueErrors(keys: readonly string[]): string[] {
  if (keys.length === 0) return [];
  return [`{UniqueConstraintError} if another row has the same ${keys.join(", or the same ")}.`];
}
