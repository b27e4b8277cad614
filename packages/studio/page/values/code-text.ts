import { WireU64 } from "../../src/protocol/wire.js";
import { visibleText } from "./visible-text.js";

/** Returns a value as it is written in a program. */
export function codeText(value: unknown): string {
  if (typeof value === "string") return visibleText(JSON.stringify(value));
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : `${value}`;
  if (value instanceof Date) {
    const isValid = !Number.isNaN(value.getTime());
    return `new Date(${isValid ? JSON.stringify(value.toISOString()) : "NaN"})`;
  }
  if (value instanceof Uint8Array) return `new Uint8Array([${value.join(", ")}])`;
  if (value instanceof WireU64) return `new KvU64(${value.value}n)`;
  if (value instanceof Map) return `new Map(${codeText([...value])})`;
  if (value instanceof Set) return `new Set(${codeText([...value])})`;
  if (Array.isArray(value)) return `[${value.map(codeText).join(", ")}]`;
  const entries = Object.entries(value).map(
    ([name, each]) => `${codeName(name)}: ${codeText(each)}`,
  );
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

/** Returns the name of a property, quoted if necessary. */
export function codeName(name: string): string {
  return isIdentifier(name) ? name : codeText(name);
}

/** Returns a property of an object: `db.users`, `db["my users"]`. */
export function codeProperty(object: string, name: string): string {
  return isIdentifier(name) ? `${object}.${name}` : `${object}[${codeText(name)}]`;
}

function isIdentifier(name: string): boolean {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);
}
