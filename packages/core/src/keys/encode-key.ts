import { types } from "#platform";
import { ByteWriter } from "../bytes/byte-writer.js";
import { InvalidKeyError } from "../errors/core-errors.js";
import { encodePlainKey, numberPartBytes, writeNumberPart } from "./encode-plain-key.js";
import type { KvKey, KvKeyPart } from "./key.js";
import { type KeyOrder, specificationOrder } from "./key-order.js";
import { keyTag, longBigint, partEnd, zeroEscape } from "./key-tags.js";

const writer = new ByteWriter(1024);
const maxUint64 = (1n << 64n) - 1n;
const uint64 = new DataView(new ArrayBuffer(8));

const chunkBytes = 0x2000;
/** The largest size, in bytes, that is allocated in a shared chunk. */
const mostShared = 0x200;

let chunk = new ArrayBuffer(chunkBytes);
let used = 0;

/**
 * Encodes a key. The byte order of encoded keys is the order of the keys (see {@link compareKeys}).
 * The encoding of a key is a prefix of the encoding of every key that extends it. An empty key
 * encodes to no bytes.
 *
 * `docs/internals/key-encoding.md` describes the format. Golden vectors freeze it.
 *
 * @param order the order of the database's keys. It is {@link denoOrder} with `compat: "deno"`.
 * @throws {InvalidKeyError} if the key is not an array, or if a part has an unsupported type, is a
 * string with a lone surrogate, or is a bigint that is too large for the order.
 */
export function encodeKey(key: KvKey, order: KeyOrder = specificationOrder): Uint8Array {
  return encode(key, order, ownBytes);
}

/**
 * Encodes the key of one entry, which cannot be empty. The bytes may share memory with other keys.
 * A database may read or write them, but the caller must not keep them.
 *
 * @throws {InvalidKeyError} if the key is empty, or if {@link encodeKey} throws it.
 */
export function encodeEntryKey(key: KvKey, order: KeyOrder = specificationOrder): Uint8Array {
  if (Array.isArray(key) && key.length === 0) throw new InvalidKeyError("it has no parts");
  return encode(key, order, smallBytes);
}

function encode(key: KvKey, order: KeyOrder, allocate: (size: number) => Uint8Array): Uint8Array {
  if (!Array.isArray(key)) throw new InvalidKeyError(`it is ${describe(key)}`);
  return encodePlainKey(key, order, allocate) ?? encodeAnyKey(key, order);
}

function ownBytes(size: number): Uint8Array {
  return new Uint8Array(size);
}

/**
 * Returns `size` zero bytes. Small sizes are allocated in a shared chunk, which is faster to create
 * and faster to pass to a native database than separate memory. A caller that keeps the bytes for
 * long must copy them, because they keep the whole chunk alive.
 */
function smallBytes(size: number): Uint8Array {
  if (size > mostShared) return new Uint8Array(size);
  if (used + size > chunkBytes) {
    chunk = new ArrayBuffer(chunkBytes);
    used = 0;
  }
  const bytes = new Uint8Array(chunk, used, size);
  used += size;
  return bytes;
}

/** The size in bytes of a versionstamp as a key part: a tag, 20 digits and the end. */
export const versionstampPartBytes = 22;

export function appendVersionstampPart(key: Uint8Array, versionstamp: string): Uint8Array {
  const longer = new Uint8Array(key.length + versionstamp.length + 2);
  longer.set(key);
  longer[key.length] = keyTag.string;
  for (let i = 0; i < versionstamp.length; i++)
    longer[key.length + 1 + i] = versionstamp.charCodeAt(i);
  // New memory is zero, so the part already ends in `partEnd`.
  return longer;
}

function encodeAnyKey(key: KvKey, order: KeyOrder): Uint8Array {
  writer.length = 0;
  for (let i = 0; i < key.length; i++) encodePart(key[i]!, i, order);
  return writer.take();
}

function encodePart(part: KvKeyPart, index: number, order: KeyOrder): void {
  switch (typeof part) {
    case "string":
      encodeString(part, index);
      return;
    case "number":
      writer.reserve(numberPartBytes);
      writeNumberPart(part, order, writer.bytes, writer.length);
      writer.length += numberPartBytes;
      return;
    case "bigint":
      encodeBigint(part, index, order);
      return;
    case "boolean":
      writer.reserve(1);
      writer.push(part ? keyTag.true : keyTag.false);
      return;
    default:
      if (!types.isUint8Array(part)) {
        throw new InvalidKeyError(`part ${index} is ${describe(part)}`, index);
      }
      writer.reserve(1);
      writer.push(keyTag.bytes);
      encodeEscaped(part);
  }
}

function encodeString(text: string, index: number): void {
  // A UTF-16 unit takes at most three bytes. A NUL takes two.
  writer.reserve(text.length * 3 + 2);
  const { bytes } = writer;
  let offset = writer.length;
  bytes[offset++] = keyTag.string;
  for (let i = 0; i < text.length; i++) {
    let point = text.charCodeAt(i);
    if (point >= 0xd800 && point < 0xe000) {
      point = text.codePointAt(i)!;
      if (point < 0x10000)
        throw new InvalidKeyError(
          `part ${index} is a string with a lone surrogate, which toWellFormed() replaces`,
          index,
        );
      i++;
    }
    if (point < 0x80) {
      bytes[offset++] = point;
      if (point === 0) bytes[offset++] = zeroEscape;
    } else {
      if (point < 0x800) {
        bytes[offset++] = 0xc0 | (point >> 6);
      } else {
        if (point < 0x10000) {
          bytes[offset++] = 0xe0 | (point >> 12);
        } else {
          bytes[offset++] = 0xf0 | (point >> 18);
          bytes[offset++] = 0x80 | ((point >> 12) & 0x3f);
        }
        bytes[offset++] = 0x80 | ((point >> 6) & 0x3f);
      }
      bytes[offset++] = 0x80 | (point & 0x3f);
    }
  }
  bytes[offset++] = partEnd;
  writer.length = offset;
}

function encodeEscaped(bytes: Uint8Array): void {
  writer.reserve(bytes.length * 2 + 1);
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    writer.push(byte);
    if (byte === 0) writer.push(zeroEscape);
  }
  writer.push(partEnd);
}

function encodeBigint(value: bigint, index: number, { maxBigintBytes }: KeyOrder): void {
  if (value === 0n) {
    writer.reserve(1);
    writer.push(keyTag.zero);
    return;
  }
  const negative = value < 0n;
  const magnitude = negative ? -value : value;
  // The length and the magnitude of a negative number are written with all bits flipped.
  const flip = negative ? 0xff : 0;
  if (magnitude <= maxUint64) {
    uint64.setBigUint64(0, magnitude);
    let first = 0;
    while (uint64.getUint8(first) === 0) first++;
    writer.reserve(9);
    writer.push(negative ? keyTag.zero - 8 + first : keyTag.zero + 8 - first);
    for (let i = first; i < 8; i++) writer.push(uint64.getUint8(i) ^ flip);
    return;
  }
  let digits = magnitude.toString(16);
  if (digits.length % 2 === 1) digits = `0${digits}`;
  const size = digits.length / 2;
  if (size > maxBigintBytes) {
    throw new InvalidKeyError(
      `part ${index} is a bigint of more than ${maxBigintBytes} bytes, the maximum`,
      index,
    );
  }
  writer.reserve(size + 4);
  writer.push(negative ? keyTag.bigNegative : keyTag.bigPositive);
  if (size < longBigint || maxBigintBytes === longBigint) {
    writer.push(size ^ flip);
  } else {
    writer.push(longBigint ^ flip);
    writer.push((size >>> 8) ^ flip);
    writer.push((size & 0xff) ^ flip);
  }
  for (let i = 0; i < digits.length; i += 2) {
    writer.push(Number.parseInt(digits.slice(i, i + 2), 16) ^ flip);
  }
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object")
    return `an object (${String(value.constructor?.name ?? "no prototype")})`;
  return typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
}
