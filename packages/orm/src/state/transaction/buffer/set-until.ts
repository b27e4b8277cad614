import type { KvSetOptions } from "@keywright/core";
import { lifetimeUntil, type Time } from "../../../model/rows/time.js";

/**
 * Options of a `set` with an expiry time instead of a lifetime. They are for writes that wait
 * before they reach the database: in a transaction, or in a commit that several writes share. The
 * database itself uses only `expireIn`.
 */
export interface SetUntilOptions extends KvSetOptions {
  readonly expireAt?: Time | undefined;
}

/**
 * Returns the options for an entry that expires at `expireAt`. The lifetime is at least one
 * millisecond.
 *
 * @param now the time of the commit. All entries of a commit get the same one, so that they expire
 * together.
 */
export function setUntil(expireAt: Time, now: Time): SetUntilOptions {
  return { expireIn: lifetimeUntil(expireAt, now), expireAt };
}

/** Returns the options with the lifetime that is left at `now`, if they have `expireAt`. */
export function withRemainingLifetime(
  options: SetUntilOptions | undefined,
  now: Time,
): SetUntilOptions | undefined {
  return options?.expireAt === undefined ? options : setUntil(options.expireAt, now);
}
