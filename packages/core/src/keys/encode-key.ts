import { types } from "node:util";
import { ByteWriter } from "../bytes/byte-writer.js";
import { InvalidKeyError } from "../errors/core-errors.js";
import type { KvKey, KvKeyPart } from "./key.js";
import { keyTag, longBigint, maxBigintBytes, partEnd, zeroEscape } from "./key-tags.js";

const writer = new ByteWriter(1024);
const utf8 = new TextEncoder();
const float = new DataView(new ArrayBuffer(8));

/**
 * Encodes a key so that the byte order of encoded keys is the order of keys ({@link compareKeys}), and so that the
 * encoding of a key is a prefix of the encoding of every key that extends it. An empty key encodes to no bytes.
 *
 * The format is in `docs/internals/key-encoding.md`; golden vectors freeze it.
 *
 * @throws {InvalidKeyError} for a part of another type, or a string with a lone surrogate.
 */
export function encodeKey(key: KvKey): Uint8Array {
  if (!Array.isArray(key)) throw new InvalidKeyError(`the key is ${describe(key)}`);
  writer.length = 0;
  for (let i = 0; i < key.length; i++) encodePart(key[i] as KvKeyPart, i);
  return writer.take();
}

/**
 * Encodes the key of one entry, which cannot be empty.
 *
 * @throws {InvalidKeyError} as {@link encodeKey}, and for an empty key.
 */
export function encodeEntryKey(key: KvKey): Uint8Array {
  if (Array.isArray(key) && key.length === 0) throw new InvalidKeyError("the key is empty");
  return encodeKey(key);
}

function encodePart(part: KvKeyPart, index: number): void {
  switch (typeof part) {
    case "string":
      encodeString(part, index);
      return;
    case "number":
      encodeNumber(part);
      return;
    case "bigint":
      encodeBigint(part, index);
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
  // Three bytes a UTF-16 unit at the most; a zero unit takes two.
  writer.reserve(text.length * 3 + 2);
  writer.push(keyTag.string);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0 || unit >= 0x80) {
      if (!text.isWellFormed()) {
        throw new InvalidKeyError(`part ${index} is a string with a lone surrogate`, index);
      }
      encodeEscaped(utf8.encode(text.slice(i)));
      return;
    }
    writer.push(unit);
  }
  writer.push(partEnd);
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

function encodeNumber(value: number): void {
  float.setFloat64(0, value);
  let high = float.getUint32(0);
  let low = float.getUint32(4);
  if (Number.isNaN(value)) {
    high = high >>> 31 === 1 ? 0xfff80000 : 0x7ff80000;
    low = 0;
  }
  if (high >>> 31 === 1) {
    high = ~high;
    low = ~low;
  } else {
    high ^= 0x80000000;
  }
  writer.reserve(9);
  writer.push(keyTag.number);
  pushUint32(high);
  pushUint32(low);
}

function pushUint32(value: number): void {
  writer.push((value >>> 24) & 0xff);
  writer.push((value >>> 16) & 0xff);
  writer.push((value >>> 8) & 0xff);
  writer.push(value & 0xff);
}

function encodeBigint(value: bigint, index: number): void {
  if (value === 0n) {
    writer.reserve(1);
    writer.push(keyTag.zero);
    return;
  }
  const negative = value < 0n;
  let digits = (negative ? -value : value).toString(16);
  if (digits.length % 2 === 1) digits = `0${digits}`;
  const size = digits.length / 2;
  if (size > maxBigintBytes) {
    throw new InvalidKeyError(
      `part ${index} is a bigint of more than ${maxBigintBytes} bytes`,
      index,
    );
  }
  // A negative number's bytes are its magnitude's with all bits flipped, and so is its length.
  const flip = negative ? 0xff : 0;
  writer.reserve(size + 4);
  if (size <= 8) {
    writer.push(negative ? keyTag.zero - size : keyTag.zero + size);
  } else {
    writer.push(negative ? keyTag.bigNegative : keyTag.bigPositive);
    if (size < longBigint) {
      writer.push(size ^ flip);
    } else {
      writer.push(longBigint ^ flip);
      writer.push((size >>> 8) ^ flip);
      writer.push((size & 0xff) ^ flip);
    }
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
