/**
 * Reports an error that no call of the program can return, as Deno does for errors of a handler. It
 * never throws.
 */
export function reportError(what: string, error: unknown): void {
  try {
    console.error(what, error);
  } catch {
    // A thrown value may throw again when it is converted to text.
    console.error(what, "(it cannot be shown)");
  }
}
