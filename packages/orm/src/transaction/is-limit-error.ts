import { LimitExceededError } from "@keywright/core";

/**
 * Whether a database refused a commit because it has too many checks or changes, or too many bytes. Deno KV says so in
 * words: "Too many mutations (max 1000)", "Total mutation size too large (max 819200 bytes)".
 */
export function isLimitError(error: unknown): boolean {
  if (error instanceof LimitExceededError) return true;
  return error instanceof TypeError && /\btoo (many|large)\b.*\(max /i.test(error.message);
}
