/** Returns a copy of a stored value that shares no object with it. */
export function copyValue<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Array.from(value, copyValue) as T;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value);
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    // A stored object can have this property. Assigning it would set the prototype of the copy.
    if (key === "__proto__") return structuredClone(value);
    copy[key] = copyValue(item);
  }
  return copy as T;
}
