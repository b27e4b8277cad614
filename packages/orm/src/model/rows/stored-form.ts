import { decodeValue, encodeValue } from "@keywright/core";
import type { AnyRow } from "../compiled-model.js";
import { storedClass } from "../fields/stored-class.js";

/**
 * Returns a row as it will be read: a `Buffer` in it becomes a `Uint8Array`, and an instance of any
 * other subclass one of the class that is stored. Returns the row itself if nothing changes.
 */
export function storedForm(row: AnyRow): AnyRow {
  let changed: Record<string, unknown> | undefined;
  for (const field in row) {
    const value = row[field];
    if (typeof value !== "object" || value === null || !Object.hasOwn(row, field)) continue;
    if (!hasSubclass(value)) continue;
    changed ??= { ...row };
    changed[field] = decoded(value);
  }
  return changed ?? row;
}

/** The commit reports a value that cannot be stored. */
function decoded(value: object): unknown {
  try {
    return decodeValue(encodeValue(value));
  } catch {
    return value;
  }
}

/** How many objects are visited before those are remembered that may contain themselves. */
const maxForgotten = 100;

/** True if an object is an instance of a subclass, or contains one. No depth exceeds the stack. */
function hasSubclass(value: object): boolean {
  let seen: Set<object> | undefined;
  let visited = 0;
  const waiting: object[] = [value];
  const add = (part: unknown) => {
    if (typeof part === "object" && part !== null) waiting.push(part);
  };
  for (let object = waiting.pop(); object !== undefined; object = waiting.pop()) {
    if (++visited > maxForgotten) {
      seen ??= new Set();
      if (seen.has(object)) continue;
      seen.add(object);
    }
    if (storedClass(Object.getPrototypeOf(object)) !== undefined) return true;
    if (Array.isArray(object) || isPlain(object))
      for (const part of Object.values(object)) add(part);
    else if (object instanceof Set) for (const part of object) add(part);
    else if (object instanceof Map) {
      for (const [key, part] of object) {
        add(key);
        add(part);
      }
    }
  }
  return false;
}

function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === Object.prototype || prototype === null;
}
