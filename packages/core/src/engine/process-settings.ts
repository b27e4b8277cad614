// Internal settings of the process, on `globalThis`, so that every copy of this package in the
// process reads them. The `keywright` command sets them to false.
const createIfMissing = Symbol.for("keywright.createIfMissing");
const serve = Symbol.for("keywright.serve");

const settings = globalThis as { [createIfMissing]?: unknown; [serve]?: unknown };

/** True if `openKv` and the functions that open engines may create databases in this process. */
export function isCreationAllowed(): boolean {
  return settings[createIfMissing] !== false;
}

/**
 * True if other processes may attach to this one. The command ends soon, so programs must not
 * depend on it.
 */
export function isServingAllowed(): boolean {
  return settings[serve] !== false;
}
