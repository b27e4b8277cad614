import { types } from "#platform";

/** Returns the getter of a property, if it has one. Every JavaScript engine has this method. */
const { __lookupGetter__: lookupGetter } = Object.prototype as unknown as {
  __lookupGetter__: (this: object, name: string) => unknown;
};
const maxDepth = 64;
const maxInt64 = (1n << 63n) - 1n;
const minInt64 = -(1n << 63n);
/** Decoders take this character at the start of a string for a byte order mark and omit it. */
const byteOrderMark = 0xfeff;
/**
 * Keys that msgpackr handles specially: it renames `__proto__`, takes `constructor` for the value's
 * class and `toJSON` for its serializer.
 */
const reservedKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "toJSON"]);

/**
 * True if MessagePack alone keeps every detail of a value. This holds for null, undefined,
 * booleans, well-formed strings, numbers except -0, 64-bit bigints, valid dates, bytes, and plain
 * objects and dense arrays of these. Nothing may be referenced twice. Getters are not plain,
 * because encoding would call them twice. Other values take the graph format. They are not
 * necessarily unsupported.
 */
export function isPlain(value: unknown): boolean {
  return isPlainScalar(value) ?? isPlainTree(value as object, new SeenObjects(), 0);
}

/** Returns undefined for an object, which may have parts. */
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
  // An object can have any prototype, so the prototype alone does not prove its type.
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
  const names = Object.keys(object);
  for (const name of names) {
    // Asks for the getter without an object for the descriptor, which would take twice the time.
    if (lookupGetter.call(object, name) !== undefined) return false;
    if (reservedKeys.has(name) || isPlainScalar(name) !== true) return false;
    if (!isPlainPart((object as Record<string, unknown>)[name], seen, depth)) return false;
  }
  // Only here, because it takes as long as the rest: what has fields is a row.
  return names.length > 0 || !hasInternalState(object);
}

/** True for an instance of a built-in class, whatever its prototype. */
function hasInternalState(object: object): boolean {
  return (
    types.isDate(object) ||
    types.isMap(object) ||
    types.isSet(object) ||
    types.isRegExp(object) ||
    types.isNativeError(object) ||
    types.isBoxedPrimitive(object) ||
    types.isAnyArrayBuffer(object) ||
    ArrayBuffer.isView(object)
  );
}

function isPlainArray(array: readonly unknown[], seen: SeenObjects, depth: number): boolean {
  const { length } = array;
  if (!seen.add(array) || Object.keys(array).length !== length) return false;
  for (let i = 0; i < length; i++) {
    const element = array[i];
    // A hole reads as undefined. An array without holes and with as many keys as elements has no
    // other property.
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

/**
 * The objects found so far. A few are kept in a list, which is faster to create and to search than
 * a set. More are kept in a set.
 */
class SeenObjects {
  readonly #few: object[] = [];
  #many: Set<object> | undefined;

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

/** True if the buffer has been transferred. */
export function isDetached(buffer: ArrayBufferLike): boolean {
  if (buffer.byteLength > 0) return false;
  try {
    // Node.js 20 has no `ArrayBuffer.prototype.detached`.
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}
