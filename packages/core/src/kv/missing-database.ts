/**
 * The name of a setting of the whole process, on `globalThis`. Internal: the `keywright` command sets it to false while it calls
 * the function of a project that opens a database, whichever copy of this package that uses.
 */
const setting = Symbol.for("keywright.createIfMissing");

/** Whether a database is made where there is none: by the option, and where the process does not forbid it. */
export function createsMissing(createIfMissing: boolean): boolean {
  return createIfMissing && (globalThis as { [setting]?: unknown })[setting] !== false;
}
