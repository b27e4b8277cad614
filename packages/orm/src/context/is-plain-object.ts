/**
 * Whether a value is an object with properties of its own and no class: what says something elsewhere than in its properties,
 * as a `Map` does, would be taken to say nothing.
 */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // That of another realm's objects is another object, and has no prototype either.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
