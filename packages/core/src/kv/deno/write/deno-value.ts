import { types } from "node:util";
import { deserialize, serialize } from "node:v8";
import { UnsupportedValueError } from "../../../errors/core-errors.js";
import { encodeValue } from "../../../values/encode-value.js";
import { encodeWithBlobs } from "../../../values/encode-with-blobs.js";
import { bigintOfU64, KvU64 } from "../../../values/kv-u64.js";
import { wrongType } from "../deno-argument.js";
import { denoError } from "../deno-error.js";
import { assertContentKept } from "./deno-content.js";

/** An encoded clone of a value, or a promise while the bytes of a `Blob` in it are read. */
export type EncodedClone = Uint8Array | Promise<Uint8Array>;

/**
 * A value as an atomic operation holds it. A `Uint8Array` is not copied before the commit.
 *
 * @typeParam Encoded `Uint8Array` at the commit, {@link EncodedClone} before it.
 */
export type DenoValue<Encoded = Uint8Array> =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "u64"; readonly value: bigint }
  | {
      readonly kind: "clone";
      readonly encoded: Encoded;
      /** The value itself if it has a `Blob`: what `inspect` shows before the bytes are read. */
      readonly original: unknown;
      readonly type: string;
    };

/**
 * @throws {TypeError} if the value cannot be cloned.
 * @throws {Error} if the value contains shared memory.
 */
export function takeValue(value: unknown): DenoValue<EncodedClone> {
  if (types.isUint8Array(value)) return { kind: "bytes", bytes: value };
  const number = bigintOfU64(value);
  if (number !== undefined) return { kind: "u64", value: number };
  const encoded = encodeClone(value);
  const original = encoded instanceof Promise ? value : undefined;
  return { kind: "clone", encoded, original, type: typeof value };
}

/**
 * Returns the size in bytes that counts toward the limits: the length of a `Uint8Array`, 8 for a
 * `KvU64`, and otherwise the size of Keywright's encoding.
 */
export function sizeOfValue(value: DenoValue): number {
  if (value.kind === "u64") return 8;
  return value.kind === "bytes" ? value.bytes.length : value.encoded.length;
}

export function encodeDenoValue(value: DenoValue): Uint8Array {
  if (value.kind === "clone") return value.encoded;
  return encodeValue(value.kind === "u64" ? new KvU64(value.value) : value.bytes);
}

/** @throws {TypeError} if the value is a `Uint8Array` in shared memory. */
export function assertOwnMemory(value: DenoValue): void {
  if (value.kind === "bytes" && types.isSharedArrayBuffer(value.bytes.buffer)) {
    const own = new UnsupportedValueError("value", "it uses shared memory");
    throw wrongType(own, "buffer", value.bytes);
  }
}

/**
 * Encodes any value that V8 can clone. {@link encodeValue} refuses some of them: an instance of a
 * class, or a `KvU64` within another value. Cloning turns these into plain objects.
 */
export function encodeClone(value: unknown): EncodedClone {
  try {
    const encoded = encodeWithBlobs(value);
    // A `Blob` that cannot be read is reported by the commit, which may never come.
    if (encoded instanceof Promise) encoded.catch(() => undefined);
    return encoded;
  } catch (error) {
    if (!(error instanceof UnsupportedValueError)) throw error;
    assertContentKept(value, error);
    return encodeValue(clone(value, error));
  }
}

function clone(value: unknown, cause: UnsupportedValueError): unknown {
  // V8 refuses to serialize shared memory, but JavaScriptCore copies it.
  if (types.isSharedArrayBuffer(value)) {
    throw denoError(cause, "#<SharedArrayBuffer> could not be cloned.", Error);
  }
  let bytes: Uint8Array;
  try {
    bytes = serialize(value);
  } catch (error) {
    if (!isCloneError(error)) throw error;
    const type = error.message === "#<SharedArrayBuffer> could not be cloned." ? Error : TypeError;
    throw denoError(cause, error.message, type);
  }
  return deserialize(bytes);
}

/** True if the value cannot be cloned, false if a getter of the value threw the error. */
function isCloneError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return error.name === "DataCloneError" || error.message.endsWith("could not be cloned.");
}
