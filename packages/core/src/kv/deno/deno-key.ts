import { InvalidKeyError } from "../../errors/core-errors.js";
import { encodeKey } from "../../keys/encode-key.js";
import type { KvKeyPart } from "../../keys/key.js";
import { denoOrder } from "../../keys/key-order.js";
import { wrongType } from "./deno-argument.js";
import { denoError } from "./deno-error.js";

/**
 * Takes a key over as Deno does: a copy, in which every view of memory is its bytes. It may be empty.
 *
 * @throws {TypeError} for what is no array, or a part of another type.
 */
export function takeKey(key: unknown): KvKeyPart[] {
  if (!Array.isArray(key)) throw wrongType(new InvalidKeyError("it is no array"), "array", key);
  // By index: a hole is a part of the wrong type.
  return Array.from({ length: key.length }, (_, index) => takePart(key[index], index));
}

function takePart(part: unknown, index: number): KvKeyPart {
  if (isScalar(part)) return part;
  if (ArrayBuffer.isView(part)) {
    return new Uint8Array(part.buffer, part.byteOffset, part.byteLength).slice();
  }
  throw denoError(
    new InvalidKeyError(`part ${index} is of another type`, index),
    "expected string, number, bigint, ArrayBufferView, boolean",
  );
}

function isScalar(part: unknown): part is string | number | bigint | boolean {
  return ["string", "number", "bigint", "boolean"].includes(typeof part);
}

/**
 * Encodes a key that was taken over, with Deno's bytes. `textFor` makes the error's text of the one that a read has.
 *
 * @throws {TypeError} for a bigint of more than 255 bytes.
 * @throws {InvalidKeyError} for a lone surrogate, for which Deno stores another character.
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
