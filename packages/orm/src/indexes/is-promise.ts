/**
 * Returns whether a value has a method `then`, as a promise does. The value is the result of a
 * function that must be synchronous. Nothing waits for it, so its rejection is ignored. Otherwise
 * the rejection would end the process.
 */
export function isPromise(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("then" in value)) return false;
  const { then } = value;
  if (typeof then !== "function") return false;
  then.call(
    value,
    () => undefined,
    () => undefined,
  );
  return true;
}
