import { types } from "./types.js";

const mostLevels = 200;

/**
 * True if two values are the same at any depth. It knows data: objects, arrays, dates, bytes, maps
 * and sets, whose members must have the same order. Other objects are the same only if they are one
 * object, and so is what has more than 200 levels. So it never says by mistake that a change is
 * none.
 */
export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  return areSame(a, b, 0);
}

function areSame(a: unknown, b: unknown, level: number): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const prototype: unknown = Object.getPrototypeOf(a);
  if (prototype !== Object.getPrototypeOf(b) || level > mostLevels) return false;
  if (types.isDate(a))
    return types.isDate(b) && Object.is((a as Date).getTime(), (b as Date).getTime());
  if (types.isUint8Array(a) || types.isMap(a) || types.isSet(a))
    return haveSameMembers([...(a as Set<unknown>)], [...(b as Set<unknown>)], level);
  const isData = Array.isArray(a) || prototype === Object.prototype || prototype === null;
  return isData && Array.isArray(a) === Array.isArray(b) && haveSameProperties(a, b, level);
}

function haveSameMembers(a: readonly unknown[], b: readonly unknown[], level: number): boolean {
  return a.length === b.length && a.every((member, i) => areSame(member, b[i], level + 1));
}

function haveSameProperties(a: object, b: object, level: number): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false;
  const [first, second] = [a, b] as [Record<string, unknown>, Record<string, unknown>];
  return names.every(
    (name) => Object.hasOwn(b, name) && areSame(first[name], second[name], level + 1),
  );
}
