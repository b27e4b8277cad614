/** Tells of an error that no call of the program's can be answered with, as Deno does of a handler's. It never throws. */
export function reportError(what: string, error: unknown): void {
  try {
    console.error(what, error);
  } catch {
    // Whatever was thrown may throw again where it is put into words.
    console.error(what, "(it cannot be shown)");
  }
}
