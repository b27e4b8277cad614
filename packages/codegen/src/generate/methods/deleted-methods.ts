import type { CompiledModel } from "@keywright/orm/codegen";
import type { Method } from "./parts/method.js";
import type { KeyParameters } from "./parts/primary-key-parameters.js";
import { notFound, restoreOptions, versionConflict, writeErrors } from "./parts/write-signature.js";

/**
 * Returns the methods for rows that are marked as deleted. There are none if the model has no
 * `softDelete`.
 *
 * @param fields the fields of the primary key, for comments.
 */
export function deletedMethods(model: CompiledModel, key: KeyParameters, fields: string): Method[] {
  if (model.softDelete === undefined) return [];
  const removed =
    "Returns how many rows were removed, and the errors of those that could not be removed. No hook is called.";
  return [
    {
      name: "restore",
      description: `Clears the mark of the deleted row with this ${fields} and returns it. A row that is not marked is returned as it is. With \`cascade\`, the rows that were deleted together with it are restored too. No hook is called.`,
      errors: [notFound, ...writeErrors(model).update, ...versionConflict],
      parameters: [...key.declarations, restoreOptions],
      result: "Promise<Row>",
      call: `restore({ ...options, where: ${key.where} })`,
    },
    {
      name: "purge",
      description: `Removes the row with this ${fields}, which must be marked as deleted. ${removed}`,
      errors: ["{RowNotFoundError} if there is no such row, or if it is not marked."],
      parameters: key.declarations,
      result: "Promise<PurgeResult>",
      call: `purge({ where: ${key.where} })`,
    },
    {
      name: "purgeDeletedBefore",
      description: `Removes the rows that were deleted before a time, oldest first. Reads only marked rows. If the call is interrupted, call it again. ${removed}`,
      errors: [
        "{InvalidArgumentError} if the time is not valid.",
        "{IndexNotReadyError} if the index of the marked rows is not built yet.",
      ],
      parameters: ["before: Date"],
      result: "Promise<PurgeResult>",
      call: "purge({ before })",
    },
  ];
}
