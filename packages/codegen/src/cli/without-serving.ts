/** `isServingAllowed` reads this property, in all copies of @keywright/core in the process. */
const setting = Symbol.for("keywright.serve");

/** Keeps other processes from attaching to this one, which will end soon. */
export function withoutServing(): void {
  (globalThis as { [setting]?: boolean })[setting] = false;
}
