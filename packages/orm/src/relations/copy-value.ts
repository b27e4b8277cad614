/** A copy of a stored value that shares nothing with it. */
export function copyValue<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Array.from(value, copyValue) as T;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value);
  const copy: Record<string, unknown> = {};
  for (const [key, own] of Object.entries(value)) {
    // A property of this name can be stored, and would be the copy's prototype.
    if (key === "__proto__") return structuredClone(value);
    copy[key] = copyValue(own);
  }
  return copy as T;
}
