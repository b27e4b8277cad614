import { InvalidKeyError } from "../../errors/core-errors.js";
import { encodeKey } from "../../keys/encode-key.js";
import type { KvKeyPart } from "../../keys/key.js";
import { denoOrder } from "../../keys/key-order.js";
import { wrongType } from "./deno-argument.js";
import { denoError } from "./deno-error.js";

/**
 * Copies a key as Deno does. Each `ArrayBufferView` becomes a `Uint8Array` of its bytes.
 *
 * @throws {TypeError} if the key is not an array, or if a key part has another type.
 */
export function takeKey(key: unknown): KvKeyPart[] {
  if (!Array.isArray(key)) throw wrongType(new InvalidKeyError("it is not an array"), "array", key);
  // Read by index, because `map` skips holes. A hole is a key part of the wrong type.
  return Array.from({ length: key.length }, (_, index) => takePart(key[index], index));
}

function takePart(part: unknown, index: number): KvKeyPart {
  if (isScalar(part)) return part;
  if (ArrayBuffer.isView(part)) {
    return new Uint8Array(part.buffer, part.byteOffset, part.byteLength).slice();
  }
  throw denoError(
    new InvalidKeyError(`part ${index} has another type`, index),
    "expected string, number, bigint, ArrayBufferView, boolean",
  );
}

function isScalar(part: unknown): part is string | number | bigint | boolean {
  return ["string", "number", "bigint", "boolean"].includes(typeof part);
}

/**
 * Encodes a key in Deno's order. `textFor` turns the error text of a read into that of the caller.
 *
 * @throws {TypeError} if a bigint has more than 255 bytes.
 * @throws {InvalidKeyError} if a string has a lone surrogate. Deno stores U+FFFD in its place.
 */
export function encodeKeyOf(
  key: KvKeyPart[],
  textFor: (text: string) => string = (text) => text,
): Uint8Array {
  try {
    return encodeKey(key, denoOrder);
  } catch (cause) {
    if (!(cause instanceof InvalidKeyError)) throw cause;
    if (typeof key[cause.partIndex ?? 0] !== "bigint") throw cause;
    throw denoError(cause, textFor("BigUint requires more than 255 bytes to be represented"));
  }
}
