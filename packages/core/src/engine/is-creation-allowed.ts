/**
 * The name of an internal setting of the process, on `globalThis`. The `keywright` command sets it
 * to false while it opens a database that it only reads. Every copy of this package in the process
 * reads it.
 */
const setting = Symbol.for("keywright.createIfMissing");

/** True if `openKv` and the functions that open engines may create databases in this process. */
export function isCreationAllowed(): boolean {
  return (globalThis as { [setting]?: unknown })[setting] !== false;
}
