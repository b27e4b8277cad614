import { InvalidArgumentError } from "../errors/query-errors.js";
import type { CompiledModel } from "../model/compiled-model.js";

/** How a row is written. */
export interface WriteOptions {
  /** For how long the row and its index entries are there, in milliseconds: a positive number. */
  readonly expireIn?: number | undefined;
  /** The versionstamp that the row must have: 20 hexadecimal digits. */
  readonly ifVersion?: string | undefined;
}

/**
 * @throws {InvalidArgumentError} for an `expireIn` that is no positive number, or of a model that keeps counts, and for an
 * `ifVersion` that is no versionstamp.
 */
export function assertWriteOptions(
  model: CompiledModel,
  { expireIn, ifVersion }: WriteOptions,
): void {
  if (expireIn !== undefined) {
    if (!(Number.isFinite(expireIn) && expireIn > 0)) {
      throw new InvalidArgumentError(model.name, "expireIn", "it has to be a positive number");
    }
    if (model.counted || model.indexes.some((index) => index.counted)) {
      const reason = "rows of a model that keeps counts cannot expire";
      throw new InvalidArgumentError(model.name, "expireIn", reason);
    }
  }
  if (ifVersion === undefined) return;
  if (typeof ifVersion !== "string" || !/^[0-9a-f]{20}$/.test(ifVersion)) {
    const reason = "it has to be a versionstamp, 20 hexadecimal digits";
    throw new InvalidArgumentError(model.name, "ifVersion", reason);
  }
}
