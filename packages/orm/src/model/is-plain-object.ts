/** True for objects that are not instances of a class. A `Map` would look like an empty object. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // `Object.prototype` of another realm is a different object, but its prototype is null too.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
