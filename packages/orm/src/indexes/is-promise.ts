/**
 * Whether a function that has to answer at once has answered with a promise. Nobody waits for that one: its failure does not
 * end the process.
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
