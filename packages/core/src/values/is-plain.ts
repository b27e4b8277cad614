import { types } from "node:util";
import { isDetached } from "./detached-buffer.js";

const maxDepth = 64;
const maxInt64 = (1n << 63n) - 1n;
const minInt64 = -(1n << 63n);
/** A decoder takes this character at the start of a string for a byte order mark, and leaves it out. */
const byteOrderMark = 0xfeff;
/** Keys by which msgpackr is led astray: it renames one, and takes the others for the value's class and serialiser. */
const reservedKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "toJSON"]);

/**
 * True where MessagePack alone keeps every detail of a value: null, undefined, booleans, well-formed strings, numbers
 * but -0, bigints of 64 bits, valid dates, bytes, and plain objects and dense arrays of these, with nothing referenced
 * twice and no getters, which would be asked twice. False sends the value to the graph format; it doesn't mean that
 * the value cannot be stored.
 */
export function isPlain(value: unknown): boolean {
  return isPlainScalar(value) ?? isPlainTree(value as object, new SeenObjects(), 0);
}

/** Whether a value that has no parts is plain; undefined for an object, which may have some. */
export function isPlainScalar(value: unknown): boolean | undefined {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() && value.charCodeAt(0) !== byteOrderMark;
    case "number":
      return value !== 0 || !Object.is(value, -0);
    case "boolean":
    case "undefined":
      return true;
    case "object":
      return value === null ? true : undefined;
    case "bigint":
      return value >= minInt64 && value <= maxInt64;
    default:
      return false;
  }
}

function isPlainTree(value: object, seen: SeenObjects, depth: number): boolean {
  if (depth > maxDepth || types.isProxy(value)) return false;
  // A prototype can be put on anything: it picks the branch, and the branch looks at what the object is.
  switch (Object.getPrototypeOf(value)) {
    case Object.prototype:
      return isPlainObject(value, seen, depth);
    case Array.prototype:
      return Array.isArray(value) && isPlainArray(value, seen, depth);
    case Date.prototype:
      return types.isDate(value) && seen.add(value) && !Number.isNaN(value.getTime());
    case Uint8Array.prototype:
      return types.isUint8Array(value) && arePlainBytes(value, seen);
    default:
      return false;
  }
}

function isPlainObject(object: object, seen: SeenObjects, depth: number): boolean {
  if (Array.isArray(object) || !seen.add(object)) return false;
  // Much quicker than a list of the keys. It also gives those that somebody has put on the prototype of all objects.
  for (const key in object) {
    const property = Object.getOwnPropertyDescriptor(object, key);
    if (property === undefined || property.get !== undefined || property.set !== undefined)
      return false;
    if (reservedKeys.has(key) || isPlainScalar(key) !== true) return false;
    if (!isPlainPart(property.value, seen, depth)) return false;
  }
  return true;
}

function isPlainArray(array: readonly unknown[], seen: SeenObjects, depth: number): boolean {
  const { length } = array;
  if (!seen.add(array) || Object.keys(array).length !== length) return false;
  for (let i = 0; i < length; i++) {
    const element = array[i];
    // A hole reads as undefined. Without one, as many keys as elements means that there is no further property.
    if (element === undefined && !Object.hasOwn(array, i)) return false;
    if (!isPlainPart(element, seen, depth)) return false;
  }
  return true;
}

function arePlainBytes(bytes: Uint8Array, seen: SeenObjects): boolean {
  return (
    !types.isSharedArrayBuffer(bytes.buffer) && !isDetached(bytes.buffer) && seen.add(bytes.buffer)
  );
}

function isPlainPart(value: unknown, seen: SeenObjects, depth: number): boolean {
  return isPlainScalar(value) ?? isPlainTree(value as object, seen, depth + 1);
}

/** The objects met so far: a few in a list, which is quicker to make and to search than a set, then in a set. */
class SeenObjects {
  readonly #few: object[] = [];
  #many: Set<object> | undefined;

  /** Adds an object; false where it was there already. */
  add(object: object): boolean {
    if (this.#many === undefined) {
      if (this.#few.includes(object)) return false;
      if (this.#few.push(object) > 16) this.#many = new Set(this.#few);
      return true;
    }
    if (this.#many.has(object)) return false;
    this.#many.add(object);
    return true;
  }
}
