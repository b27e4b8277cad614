import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";

/** How a row is written. */
export interface WriteOptions {
  /**
   * For how long the row and its index entries are there, in milliseconds: a positive number, of which a fraction counts
   * as a whole one, up to 2 ** 52.
   */
  readonly expireIn?: number | undefined;
  /** The versionstamp that the row must have: 20 hexadecimal digits. */
  readonly ifVersion?: string | undefined;
}

/** So that the time is one that every database can add to today's: some hundred thousand years. */
const longestExpireIn = 2 ** 52;

/**
 * @throws {InvalidArgumentError} for an `expireIn` that is no positive number up to 2 ** 52, or of a model that keeps counts, and for an
 * `ifVersion` that is no versionstamp.
 */
export function assertWriteOptions(
  model: CompiledModel,
  { expireIn, ifVersion }: WriteOptions,
): void {
  if (expireIn !== undefined) {
    if (typeof expireIn !== "number" || !(expireIn > 0 && expireIn <= longestExpireIn)) {
      const reason = "it has to be a positive number of milliseconds, 2 ** 52 at the most";
      throw new InvalidArgumentError(model.name, "expireIn", reason);
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

/** For how long a row is to be there, in whole milliseconds: databases take no others. */
export function expireInOf({ expireIn }: WriteOptions): number | undefined {
  return expireIn === undefined ? undefined : Math.ceil(expireIn);
}
