import { LimitExceededError } from "@keywright/core";

/** What `@deno/kv` says, in an error of no class of its own. */
const denoClientRefusal = /^(AtomicWriteTooLarge|TooManyChecks|TooManyMutations)\b/;

/**
 * Whether a database refused a commit because it has too many checks or changes, or too many bytes. Deno KV says so in
 * words: "Too many mutations (max 1000)", "Total mutation size too large (max 819200 bytes)".
 */
export function isLimitError(error: unknown): boolean {
  if (error instanceof LimitExceededError) return true;
  if (!(error instanceof Error)) return false;
  if (denoClientRefusal.test(error.message)) return true;
  return error instanceof TypeError && /\btoo (many|large)\b.*\(max /i.test(error.message);
}
