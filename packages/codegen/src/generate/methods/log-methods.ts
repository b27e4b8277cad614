import type { CompiledModel } from "@keywright/orm/codegen";
import type { ModelNames } from "../../project/models/model-names.js";
import type { Method } from "./parts/method.js";
import type { KeyParameters } from "./parts/primary-key-parameters.js";
import { deleteOptions, versionConflict, writeErrors } from "./parts/write-signature.js";

const logOff = "{LogOffError} if the database keeps no log.";
const unavailable = "{LogUnavailableError} if the database cannot keep a log, as Deno KV.";

/**
 * Returns the methods that read the log of commits, and the one that writes a version of a row
 * again. Their rows have all fields, also those of a repository that `select` returned.
 *
 * @param fields the fields of the primary key, for comments.
 */
export function logMethods(
  model: CompiledModel,
  { row }: ModelNames,
  key: KeyParameters,
  fields: string,
): Method[] {
  const keyFields = model.primaryKey.map((field) => JSON.stringify(field)).join(" | ");
  return [
    {
      name: "changes",
      description:
        "Returns the commits of the log that have changed rows, in their order, with the rows before and after. First those that the log has, then further ones as they come.",
      errors: [
        logOff,
        "{LogTruncatedError} if the log no longer has all commits after `after`.",
        unavailable,
      ],
      parameters: [`options?: ChangeOptions<${row}>`],
      result: `AsyncIterableIterator<ChangedRows<ChangedRow<${row}, ${keyFields}>>>`,
      call: "changes(options)",
    },
    {
      name: "history",
      description: `Returns the versions that the log has of the row with this ${fields}, newest first, with the commits that made them. Two reads for each version.`,
      errors: [logOff, unavailable],
      parameters: [...key.declarations, "options?: VersionOptions"],
      result: `Promise<Page<VersionOfRow<${row}>>>`,
      call: `history({ ...options, where: ${key.where} })`,
    },
    {
      name: "restoreRow",
      description: `Writes a version that \`history\` has returned as the newest one of the row with this ${fields}, and returns the row. If it was deleted, it is created again. It is checked like a new row. No hook is called.`,
      errors: [
        "{RowVersionNotFoundError} if the log has no version of the row with this versionstamp.",
        "{StoredRowInvalidError} if the version does not fit the schema.",
        ...writeErrors(model).create,
        ...versionConflict,
      ],
      parameters: [...key.declarations, "versionstamp: string", deleteOptions],
      result: `Promise<${row}>`,
      call: `restoreRow({ ...options, where: ${key.where}, versionstamp })`,
    },
  ];
}
