/** `isServingAllowed` reads this property, in all copies of @keywright/core in the process. */
const setting = Symbol.for("keywright.serve");

/**
 * Determines whether other processes may attach to this one. A command that ends soon keeps them
 * away.
 */
export function allowServing(isAllowed: boolean): void {
  (globalThis as { [setting]?: boolean })[setting] = isAllowed;
}
