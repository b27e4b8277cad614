import type { FoundRow } from "../../context/any-query.js";
import { VersionConflictError } from "../../errors/row-errors.js";
import { pointerOf } from "../../indexes/primary-key.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { WriteOptions } from "../input/write-options.js";

/** Finds the row to write, anew after each conflict: the whole row, with its own versionstamp. */
export type FindRow = () => Promise<FoundRow | undefined>;

/** @throws {VersionConflictError} where a row has another versionstamp than `ifVersion`. */
export function assertVersion(
  model: CompiledModel,
  { primaryKey, versionstamp }: FoundRow,
  { ifVersion }: WriteOptions,
): void {
  if (ifVersion === undefined || ifVersion === versionstamp) return;
  throw new VersionConflictError(model.name, pointerOf(primaryKey), 1);
}
