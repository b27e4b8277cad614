import { type KvLimits, LimitExceededError } from "@keywright/core";
import { denoLimits } from "./limits-of.js";

/** How refusals begin, which are errors of no class of their own: what `@deno/kv` says, and what Deno does. */
const beginnings: readonly (readonly [RegExp, keyof KvLimits])[] = [
  [/^(ValueTooLong\b|Value too large\b)/, "valueBytes"],
  [/^(KeyTooLong\b|Key too large\b)/, "keyBytes"],
  [/^Total key size too large\b/, "totalKeyBytes"],
  [/^(AtomicWriteTooLarge\b|Total mutation size too large\b)/, "totalMutationBytes"],
  [/^(TooManyChecks\b|Too many checks\b)/, "checks"],
  [/^(TooManyMutations\b|Too many mutations\b)/, "mutations"],
];

/**
 * What a database threw, or a {@link LimitExceededError} with that as its cause, where it refused a commit because of its
 * size, or that of a key or a value. How large it was Deno KV does not say: `actual` is NaN then.
 */
export function limitErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof LimitExceededError) return error;
  const [, limit] = beginnings.find(([pattern]) => pattern.test(error.message)) ?? [];
  if (limit === undefined) return error;
  const told = /\(max (\d+)\b/.exec(error.message)?.[1];
  const max = told === undefined ? denoLimits[limit] : Number(told);
  const exceeded = new LimitExceededError(limit, max, Number.NaN);
  Object.defineProperty(exceeded, "cause", { value: error, configurable: true, writable: true });
  return exceeded;
}
