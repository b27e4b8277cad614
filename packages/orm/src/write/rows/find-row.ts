import type { FoundRow } from "../../context/any-query.js";
import { VersionConflictError } from "../../errors/row-errors.js";
import { pointerOf } from "../../indexes/primary-key.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { WriteOptions } from "../input/write-options.js";

/**
 * Reads the row to write: the whole row, with the versionstamp of the row and not of an index
 * entry. It is called again after each conflict.
 */
export type FindRow = () => Promise<FoundRow | undefined>;

/**
 * Checks the versionstamp of a row.
 *
 * @throws {VersionConflictError} if it differs from `ifVersion`.
 */
export function assertVersion(
  model: CompiledModel,
  { primaryKey, versionstamp }: FoundRow,
  { ifVersion }: WriteOptions,
): void {
  if (ifVersion === undefined || ifVersion === versionstamp) return;
  throw new VersionConflictError(model.name, pointerOf(primaryKey), "ifVersion");
}
