import { type KvLimits, LimitExceededError } from "@keywright/core";
import { defaultLimits } from "../catalog/capabilities-of.js";

/** Messages of `@deno/kv` and Deno, which have no error classes, with the limits they report. */
const messagePatterns: readonly (readonly [RegExp, keyof KvLimits])[] = [
  [/^(ValueTooLong\b|Value too large\b)/, "valueBytes"],
  [/^(KeyTooLong\b|Key too large\b)/, "keyBytes"],
  [/^Total key size too large\b/, "totalKeyBytes"],
  [/^(AtomicWriteTooLarge\b|Total mutation size too large\b)/, "totalMutationBytes"],
  [/^(TooManyChecks\b|Too many checks\b)/, "checks"],
  [/^(TooManyMutations\b|Too many mutations\b)/, "mutations"],
];

/** @throws {LimitExceededError} if a commit would exceed a limit. */
export function assertWithin(
  limits: Pick<KvLimits, "checks" | "mutations">,
  name: "checks" | "mutations",
  actual: number,
): void {
  if (actual > limits[name]) throw new LimitExceededError(name, limits[name], actual);
}

export function isLimitError(error: unknown): boolean {
  if (limitErrorOf(error) instanceof LimitExceededError) return true;
  return error instanceof TypeError && /\btoo (many|large)\b.*\(max /i.test(error.message);
}

/**
 * Returns a {@link LimitExceededError} with `error` as its cause if a database refused a commit
 * because of its size, or the size of a key or value. Returns any other error as it is. Deno KV
 * does not report the actual size: `actual` is then NaN.
 */
export function limitErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof LimitExceededError) return error;
  const [, limit] = messagePatterns.find(([pattern]) => pattern.test(error.message)) ?? [];
  if (limit === undefined) return error;
  const statedMax = /\(max (\d+)\b/.exec(error.message)?.[1];
  const max = statedMax === undefined ? defaultLimits[limit] : Number(statedMax);
  const exceeded = new LimitExceededError(limit, max, Number.NaN);
  Object.defineProperty(exceeded, "cause", { value: error, configurable: true, writable: true });
  return exceeded;
}
