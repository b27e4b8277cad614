/**
 * The name of a setting of the whole process, on `globalThis`. Internal. The `keywright` command
 * sets it to false while it calls the function of a project that opens a database. Every copy of
 * this package in the process reads it.
 */
const setting = Symbol.for("keywright.createIfMissing");

/** True if the option and the setting of the process both allow the creation of a database. */
export function createsMissing(createIfMissing: boolean): boolean {
  return createIfMissing && (globalThis as { [setting]?: unknown })[setting] !== false;
}
