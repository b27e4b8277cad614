/** Tells of an error that no call of the program's can be answered with, as Deno does of a handler's. */
export function reportError(what: string, error: unknown): void {
  console.error(what, error);
}
