import { Buffer } from "node:buffer";
import { types } from "node:util";
import { clonesCauses } from "./javascript-engine.js";

/**
 * Returns the first difference between two values, as a path and a reason, or undefined if they are
 * the same. It is stricter than the equality of a test runner: it compares prototypes, holes, -0,
 * the order of keys, hidden properties of errors, lone surrogates, and the identity of objects.
 */
export function valueDifference(actual: unknown, expected: unknown): string | undefined {
  return new Comparison().compare(actual, expected, "value");
}

class Comparison {
  /**
   * The objects that were compared, each with its counterpart. An object has only one counterpart.
   */
  readonly #counterparts = new Map<object, object>();
  readonly #taken = new Set<object>();

  compare(a: unknown, b: unknown, path: string): string | undefined {
    if (!isObject(a) || !isObject(b))
      return Object.is(a, b) ? undefined : `${path}: ${String(a)} is not ${String(b)}`;
    const known = this.#counterparts.get(a);
    if (known !== undefined || this.#taken.has(b))
      return known === b ? undefined : `${path}: not the same object as elsewhere`;
    this.#counterparts.set(a, b);
    this.#taken.add(b);
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return `${path}: another prototype`;
    return this.#compareParts(a, b, path) ?? this.#compareProperties(a, b, path);
  }

  #compareParts(a: object, b: object, path: string): string | undefined {
    if (types.isDate(a)) return this.compare(a.getTime(), (b as Date).getTime(), path);
    if (types.isRegExp(a)) {
      return this.#compareLists(
        [a.source, a.flags, a.lastIndex],
        [(b as RegExp).source, (b as RegExp).flags, (b as RegExp).lastIndex],
        path,
      );
    }
    if (types.isMap(a)) {
      return this.#compareLists(
        [...a].flat(1),
        [...(b as Map<unknown, unknown>)].flat(1),
        `${path} entries`,
      );
    }
    if (types.isSet(a))
      return this.#compareLists([...a], [...(b as Set<unknown>)], `${path} members`);
    if (types.isBoxedPrimitive(a)) return this.compare(a.valueOf(), b.valueOf(), `${path} boxed`);
    if (types.isArrayBuffer(a)) {
      return Buffer.from(a).equals(Buffer.from(b as ArrayBuffer))
        ? undefined
        : `${path}: other bytes`;
    }
    if (ArrayBuffer.isView(a)) return this.#compareViews(a, b as ArrayBufferView, path);
    return undefined;
  }

  /**
   * The bytes of a view, and its offset if both buffers have the same length.
   */
  #compareViews(a: ArrayBufferView, b: ArrayBufferView, path: string): string | undefined {
    const bytesOf = (view: ArrayBufferView) =>
      Buffer.from(view.buffer, view.byteOffset, view.byteLength);
    if (!bytesOf(a).equals(bytesOf(b))) return `${path}: other bytes`;
    if (a.buffer.byteLength !== b.buffer.byteLength) return undefined;
    if (a.byteOffset !== b.byteOffset) return `${path}: another place in its buffer`;
    return this.compare(a.buffer, b.buffer, `${path}.buffer`);
  }

  #compareProperties(a: object, b: object, path: string): string | undefined {
    if (ArrayBuffer.isView(a)) return undefined;
    const keys = keysOf(a);
    const difference = this.#compareLists(keys, keysOf(b), `${path} keys`);
    if (difference !== undefined) return difference;
    for (const key of keys) {
      const step = `${path}[${JSON.stringify(key)}]`;
      const mine = Object.getOwnPropertyDescriptor(a, key)!;
      const theirs = Object.getOwnPropertyDescriptor(b, key)!;
      if (mine.enumerable !== theirs.enumerable) return `${step}: other visibility`;
      // Read, because the stack of an error is an accessor in some runtimes.
      const inside = this.compare(Reflect.get(a, key), Reflect.get(b, key), step);
      if (inside !== undefined) return inside;
    }
    return undefined;
  }

  #compareLists(a: readonly unknown[], b: readonly unknown[], path: string): string | undefined {
    if (a.length !== b.length) return `${path}: ${a.length}, not ${b.length}`;
    for (const [index, item] of a.entries()) {
      const difference = this.compare(item, b[index], `${path} ${index}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
}

/**
 * Removes what the engine adds to errors, and their causes if `structuredClone` drops them.
 */
function keysOf(object: object): PropertyKey[] {
  const keys = Reflect.ownKeys(object);
  if (!types.isNativeError(object)) return keys;
  // Engines make an error's properties in an order of their own.
  return keys.filter((key) => !positionKeys.has(key) && (clonesCauses || key !== "cause")).sort();
}

/** Where an error was made, in JavaScriptCore. */
const positionKeys: ReadonlySet<PropertyKey> = new Set([
  "line",
  "column",
  "sourceURL",
  "originalLine",
  "originalColumn",
]);

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
