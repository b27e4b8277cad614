import type { KvSetOptions } from "@keywright/core";

/**
 * Options of a `set` that say when the entry goes rather than for how long it stays, for those who hold a write back before
 * they hand it over: a transaction, or a commit that several share. A database looks at `expireIn` alone.
 */
export interface SetUntilOptions extends KvSetOptions {
  /** Milliseconds since 1970. */
  readonly expireAt?: number | undefined;
}

/**
 * The options for an entry that goes at a time: one millisecond is left at the least.
 *
 * @param now the same one for all entries of a commit, so that they go together; milliseconds since 1970.
 */
export function setUntil(expireAt: number, now: number): SetUntilOptions {
  return { expireIn: Math.max(Math.ceil(expireAt - now), 1), expireAt };
}

/** The same options as they are at a time, where some has passed since they were made. */
export function renewed(
  options: SetUntilOptions | undefined,
  now: number,
): SetUntilOptions | undefined {
  return options?.expireAt === undefined ? options : setUntil(options.expireAt, now);
}
