import type { EngineLimits } from "../engine/engine.js";
import { InvalidOptionError, LimitExceededError } from "../errors/core-errors.js";

/** How much a database takes at once. Every limit is the most that is taken; `Infinity` where there is none. */
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
  /** Changes and messages of one atomic operation. */
  readonly mutations: number;
  /** Bytes of the encoded keys and values of one atomic operation. */
  readonly totalMutationBytes: number;
  /** Bytes of the encoded keys under which one atomic operation stores something. */
  readonly totalKeyBytes: number;
}

/** What a database takes that was opened without limits: as much as its bytes can say. */
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

/** @throws {InvalidOptionError} for a limit that is no positive number, or that is none of {@link KvLimits}. */
export function assertLimits(given: Partial<KvLimits>): void {
  for (const [name, limit] of Object.entries(given)) {
    if (!Object.hasOwn(defaultLimits, name)) {
      throw new InvalidOptionError(`limits.${name}`, "there is no such limit");
    }
    if (!((Number.isInteger(limit) && limit > 0) || limit === Number.POSITIVE_INFINITY)) {
      throw new InvalidOptionError(`limits.${name}`, "a limit is a positive integer, or Infinity");
    }
  }
}

/** The limits of a database: those that are given, `defaults` for the others, and never more than its engine's. */
export function limitsWith(
  given: Partial<KvLimits>,
  defaults: KvLimits,
  engine: EngineLimits,
): KvLimits {
  const limits = { ...defaults, ...given };
  return {
    ...limits,
    checks: Math.min(limits.checks, engine.checks),
    mutations: Math.min(limits.mutations, engine.mutations),
  };
}

/** @throws {LimitExceededError} where `actual` is more than the limit of that name. */
export function assertWithin(limits: KvLimits, name: keyof KvLimits, actual: number): void {
  const max = limits[name];
  if (actual > max) throw new LimitExceededError(name, max, actual);
}
