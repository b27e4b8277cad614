import type { CompiledModel } from "../../model/compiled-model.js";
import { lifetimeOf, type RowExpiry } from "../../model/rows/time.js";
import { assertArgument, is, versionstampText } from "../../model/shape.js";

/** The options of a write of one row. */
export interface WriteOptions {
  /**
   * The lifetime of the row and its index entries in milliseconds, rounded up to a whole number. It
   * must be positive and at most 2 ** 52.
   */
  readonly expireIn?: number | undefined;
  /** The versionstamp that the row must have, as 20 hexadecimal digits. */
  readonly ifVersion?: string | undefined;
}

/** About 140,000 years in milliseconds. Every database can add this to the current time. */
const maxExpireIn = 2 ** 52;

const lifetime = is<number>(
  (value) => typeof value === "number" && value > 0 && value <= maxExpireIn,
  "a positive number of milliseconds, at most 2 ** 52",
);

/** @throws {InvalidArgumentError} if an option is not valid. */
export function assertWriteOptions(
  model: CompiledModel,
  { expireIn, ifVersion }: WriteOptions,
): void {
  if (expireIn !== undefined) assertArgument(model.name, "expireIn", expireIn, lifetime);
  if (ifVersion !== undefined) assertArgument(model.name, "ifVersion", ifVersion, versionstampText);
}

export function expiryOf({ expireIn }: WriteOptions): RowExpiry | undefined {
  return expireIn === undefined ? undefined : { expireIn: lifetimeOf(expireIn) };
}
