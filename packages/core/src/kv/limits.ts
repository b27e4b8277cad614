import type { EngineLimits } from "../engine/engine.js";
import { InvalidOptionError, LimitExceededError } from "../errors/core-errors.js";

/** The limits of a database. Each is the largest number that is allowed; `Infinity` is no limit. */
export interface KvLimits {
  /** Bytes of one encoded key. */
  readonly keyBytes: number;
  /** Bytes of one encoded value. */
  readonly valueBytes: number;
  /** Keys of one `getMany`. */
  readonly keys: number;
  /** Entries of one batch of `list`. */
  readonly batchSize: number;
  /** Keys of one `watch`. */
  readonly watchedKeys: number;
  /** Checks of one atomic operation. */
  readonly checks: number;
  /** Mutations of one atomic operation, including messages. */
  readonly mutations: number;
  /** Bytes of the encoded keys and values of one atomic operation. */
  readonly totalMutationBytes: number;
  /** Bytes of the encoded keys that the mutations of one atomic operation name. */
  readonly totalKeyBytes: number;
}

/** The default limits. A key has room for one bigint of the maximum size, 65,535 bytes. */
export const defaultLimits: KvLimits = {
  keyBytes: 0x1_0000 + 0x100,
  valueBytes: Number.POSITIVE_INFINITY,
  keys: Number.POSITIVE_INFINITY,
  batchSize: 500,
  watchedKeys: Number.POSITIVE_INFINITY,
  checks: Number.POSITIVE_INFINITY,
  mutations: Number.POSITIVE_INFINITY,
  totalMutationBytes: Number.POSITIVE_INFINITY,
  totalKeyBytes: Number.POSITIVE_INFINITY,
};

/**
 * @throws {InvalidOptionError} if a limit is not one of {@link KvLimits}, or is neither a positive
 * integer nor `Infinity`.
 */
export function assertLimits(given: Partial<KvLimits>): void {
  for (const [name, limit] of Object.entries(given)) {
    if (!Object.hasOwn(defaultLimits, name)) {
      const reason = `is not a limit; the limits are ${Object.keys(defaultLimits).join(", ")}`;
      throw new InvalidOptionError(`limits.${name}`, reason, "openKv");
    }
    if (!((Number.isInteger(limit) && limit > 0) || limit === Number.POSITIVE_INFINITY)) {
      const reason = "must be a positive integer or Infinity";
      throw new InvalidOptionError(`limits.${name}`, reason, "openKv");
    }
  }
}

/** Returns the limits of a database: `given`, then `defaults`, and at most those of its engine. */
export function limitsWith(
  given: Partial<KvLimits>,
  defaults: KvLimits,
  engine: EngineLimits,
): KvLimits {
  const limits = { ...defaults, ...given };
  for (const name of Object.keys(engine) as (keyof EngineLimits)[]) {
    limits[name] = Math.min(limits[name], engine[name] ?? Number.POSITIVE_INFINITY);
  }
  return limits;
}

/** @throws {LimitExceededError} if `actual` is more than the limit of that name. */
export function assertWithin(limits: KvLimits, name: keyof KvLimits, actual: number): void {
  const max = limits[name];
  if (actual > max) throw new LimitExceededError(name, max, actual);
}
