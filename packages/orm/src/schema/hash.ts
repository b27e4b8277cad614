import { createHash } from "node:crypto";

/** A short hash of a JSON value, the same for every order of its objects' properties: 16 hex digits. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 16);
}

/** JSON with the properties of each object in the order of their names. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const entries = Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries);
  });
}
