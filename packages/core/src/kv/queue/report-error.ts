/** Reports an error that no call can return, as Deno does for handlers. Never throws. */
export function reportError(what: string, error: unknown): void {
  try {
    console.error(what, error);
  } catch {
    // A thrown value may throw again when it is converted to text.
    console.error(what, "(it cannot be shown)");
  }
}
