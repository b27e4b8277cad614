import { Buffer } from "#platform";
import { bytesToHex } from "../bytes/hex.js";
import { MalformedKeyError } from "../errors/core-errors.js";
import type { KvKeyPart } from "./key.js";
import { type KeyOrder, specificationOrder } from "./key-order.js";
import { keyTag, longBigint, partEnd, zeroEscape } from "./key-tags.js";

const float = new DataView(new ArrayBuffer(8));
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes an encoded key. Accepts only bytes that {@link encodeKey} writes, so that every key has
 * one encoding and every encoding has one key.
 *
 * @throws {MalformedKeyError} if the bytes are anything else.
 */
export function decodeKey(bytes: Uint8Array, order: KeyOrder = specificationOrder): KvKeyPart[] {
  return new KeyReader(bytes, order, 0).readKey([]);
}

/**
 * Decodes a key whose first parts are known: `first`, which take `size` bytes. Throws as
 * {@link decodeKey} does.
 */
export function decodeKeyAfter(
  first: readonly KvKeyPart[],
  size: number,
  bytes: Uint8Array,
  order: KeyOrder,
): KvKeyPart[] {
  return new KeyReader(bytes, order, size).readKey([...first]);
}

class KeyReader {
  readonly #bytes: Uint8Array;
  readonly #order: KeyOrder;
  #offset: number;

  constructor(bytes: Uint8Array, order: KeyOrder, offset: number) {
    this.#bytes = bytes;
    this.#order = order;
    this.#offset = offset;
  }

  /** Appends the parts to those that are known. */
  readKey(key: KvKeyPart[]): KvKeyPart[] {
    while (this.#offset < this.#bytes.length) key.push(this.#readPart());
    return key;
  }

  #readPart(): KvKeyPart {
    const tag = this.#bytes[this.#offset++]!;
    switch (tag) {
      case keyTag.string:
        return this.#readString();
      case keyTag.bytes:
        return this.#readBytes();
      case this.#order.numberTag:
        return this.#readNumber();
      case keyTag.false:
        return false;
      case keyTag.true:
        return true;
      default:
        if (tag >= keyTag.bigNegative && tag <= keyTag.bigPositive) return this.#readBigint(tag);
        this.#offset--;
        return this.#fail("a part has an unknown tag");
    }
  }

  #scanEscaped(): { end: number; escapes: number } {
    let escapes = 0;
    for (let i = this.#offset; i < this.#bytes.length; i++) {
      if (this.#bytes[i] !== partEnd) continue;
      if (this.#bytes[i + 1] !== zeroEscape) return { end: i, escapes };
      escapes++;
      i++;
    }
    return this.#fail("the last part has no end");
  }

  #readBytes(): Uint8Array {
    const { end, escapes } = this.#scanEscaped();
    const part = new Uint8Array(end - this.#offset - escapes);
    for (let from = this.#offset, to = 0; from < end; from++, to++) {
      part[to] = this.#bytes[from]!;
      if (part[to] === 0) from++;
    }
    this.#offset = end + 1;
    return part;
  }

  #readString(): string {
    const bytes = this.#bytes;
    let text = "";
    let i = this.#offset;
    // Most strings are ASCII. Eight characters at a time are much faster than one at a time.
    for (; i + 8 <= bytes.length; i += 8) {
      const a = bytes[i]!;
      const b = bytes[i + 1]!;
      const c = bytes[i + 2]!;
      const d = bytes[i + 3]!;
      const e = bytes[i + 4]!;
      const f = bytes[i + 5]!;
      const g = bytes[i + 6]!;
      const h = bytes[i + 7]!;
      if (!(a && b && c && d && e && f && g && h) || (a | b | c | d | e | f | g | h) >= 0x80) break;
      text += String.fromCharCode(a, b, c, d, e, f, g, h);
    }
    for (; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (byte >= 0x80) break;
      if (byte !== partEnd) {
        text += String.fromCharCode(byte);
        continue;
      }
      if (bytes[i + 1] === zeroEscape) break;
      this.#offset = i + 1;
      return text;
    }
    return this.#readUtf8();
  }

  #readUtf8(): string {
    const start = this.#offset;
    const part = this.#readBytes();
    // Much faster than a strict decoder for short texts. U+FFFD replaces invalid bytes, but it may
    // also be part of the text. The strict decoder decides.
    const text = Buffer.from(part.buffer).toString("utf8");
    if (!text.includes("\ufffd")) return text;
    try {
      return strictUtf8.decode(part);
    } catch {
      this.#offset = start;
      return this.#fail("a string part is not UTF-8");
    }
  }

  #readNumber(): number {
    const start = this.#offset;
    this.#skip(8);
    const flip = this.#bytes[start]! >>> 7 === 1 ? 0 : 0xff;
    for (let i = 0; i < 8; i++) float.setUint8(i, this.#bytes[start + i]! ^ flip);
    if (flip === 0) float.setUint8(0, float.getUint8(0) ^ 0x80);
    const value = float.getFloat64(0);
    if (Number.isNaN(value)) {
      const canonical =
        (float.getUint32(0) & 0x7fffffff) === 0x7ff80000 && float.getUint32(4) === 0;
      if (!canonical) {
        this.#offset = start;
        return this.#fail("a number part is a NaN with a payload");
      }
    }
    return value;
  }

  #readBigint(tag: number): bigint {
    if (tag === keyTag.zero) return 0n;
    const negative = tag < keyTag.zero;
    const flip = negative ? 0xff : 0;
    let size = Math.abs(tag - keyTag.zero);
    let shortest = size;
    if (size > 8) {
      size = this.#next() ^ flip;
      shortest = 9;
      if (size === longBigint && this.#order.maxBigintBytes > longBigint) {
        size = ((this.#next() ^ flip) << 8) | (this.#next() ^ flip);
        shortest = longBigint;
      }
    }
    const start = this.#offset;
    this.#skip(size);
    // Copies byte by byte, because `slice` of a Node.js Buffer shares the caller's memory.
    const magnitude = new Uint8Array(size);
    for (let i = 0; i < size; i++) magnitude[i] = this.#bytes[start + i]! ^ flip;
    if (size < shortest || magnitude[0] === 0) {
      this.#offset = start;
      return this.#fail("a bigint part has leading zeros");
    }
    const value = size <= 8 ? smallBigint(magnitude) : BigInt(`0x${bytesToHex(magnitude)}`);
    return negative ? -value : value;
  }

  #next(): number {
    const start = this.#offset;
    this.#skip(1);
    return this.#bytes[start]!;
  }

  #skip(count: number): void {
    if (this.#offset + count > this.#bytes.length) this.#fail("the last part is incomplete");
    this.#offset += count;
  }

  #fail(reason: string): never {
    throw new MalformedKeyError(reason, this.#offset);
  }
}

/** Returns the unsigned integer that at most eight big-endian bytes represent. */
function smallBigint(bytes: Uint8Array): bigint {
  let high = 0;
  let low = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (bytes.length - i > 4) high = high * 256 + bytes[i]!;
    else low = low * 256 + bytes[i]!;
  }
  float.setUint32(0, high);
  float.setUint32(4, low);
  return float.getBigUint64(0);
}
