import { LimitExceededError } from "@keywright/core";

/** The messages of `@deno/kv`. It has no error classes for them. */
const denoClientRefusal = /^(AtomicWriteTooLarge|TooManyChecks|TooManyMutations)\b/;

/**
 * True if a database refused a commit because it has too many checks, mutations or bytes. Deno KV
 * reports this only in the message: "Too many mutations (max 1000)", "Total mutation size too large
 * (max 819200 bytes)".
 */
export function isLimitError(error: unknown): boolean {
  if (error instanceof LimitExceededError) return true;
  if (!(error instanceof Error)) return false;
  if (denoClientRefusal.test(error.message)) return true;
  return error instanceof TypeError && /\btoo (many|large)\b.*\(max /i.test(error.message);
}
