import { types } from "node:util";
import type { UnsupportedValueError } from "../../../errors/core-errors.js";
import { denoError } from "../deno-error.js";

type ObjectClass = abstract new (...args: never[]) => object;

const refusedClasses: readonly ObjectClass[] = [
  MessagePort,
  ReadableStream,
  TransformStream,
  WritableStream,
];

const { CryptoKey } = globalThis as unknown as { CryptoKey: ObjectClass };
/** Classes that Deno stores, but `node:v8` turns into empty objects in some runtimes. */
const storedClasses: readonly ObjectClass[] = [Blob, CryptoKey, DOMException];

/**
 * Checks that no object at any depth loses its content when `node:v8` copies the value.
 *
 * @param cause the error of encoding the value.
 */
export function assertContentKept(value: unknown, cause: UnsupportedValueError): void {
  const seen = new Set<unknown>();
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== "object" || next === null || types.isProxy(next) || seen.has(next))
      continue;
    if (refusedClasses.some((each) => next instanceof each))
      throw denoError(cause, "Unsupported object type");
    if (storedClasses.some((each) => next instanceof each)) throw cause;
    seen.add(next);
    for (const part of partsOf(next)) pending.push(part);
  }
}

function partsOf(object: object): unknown[] {
  if (types.isMap(object)) return [...Map.prototype.entries.call(object)].flat();
  if (types.isSet(object)) return [...Set.prototype.values.call(object)];
  if (ArrayBuffer.isView(object)) return [];
  return Object.values(Object.getOwnPropertyDescriptors(object)).map(({ value }) => value);
}
