import { Buffer } from "#platform";
import { learnName, nameAt, noName, type PropertyName } from "./property-names.js";

/** Node.js, Deno and Bun have these methods, but the types do not declare them. */
const { latin1Slice, utf8Slice } = Buffer.prototype as unknown as {
  latin1Slice: (this: Uint8Array, start: number, end: number) => string;
  utf8Slice: (this: Uint8Array, start: number, end: number) => string;
};

/** Thrown at the first item that {@link readMessagePack} does not know. */
const unknownItem = new TypeError("the item is not one that values have");
/** More levels than plain data has, and than the nodes of a graph. */
const mostLevels = 128;
/** Texts of up to this many bytes are checked in JavaScript, longer ones by the runtime. */
const mostChecked = 64;
/**
 * If the item has at most this many bytes, all texts are cut from one string, which they keep in
 * memory. A call of the runtime for each text takes longer.
 */
const mostShared = 256;
const byteOrderMark = 0xfeff;
const replacement = "\ufffd";

/** Where the item begins that is read, where the next part of it begins, and where it ends. */
let first = 0;
let position = 0;
let last = 0;
/** All bytes of the item as characters. */
let characters: string | undefined;

const float = new DataView(new ArrayBuffer(8));

/**
 * Reads the MessagePack item in `bytes[start, end)`. It knows all items that encoding writes, and
 * throws at others, and wherever decoders differ: a general decoder has to read these.
 *
 * @param wanted if the item is a map, which of its properties to read. The others are skipped.
 * @throws {TypeError} if the bytes are not exactly one item that is known.
 */
export function readMessagePack(
  bytes: Uint8Array,
  start: number,
  end: number = bytes.length,
  wanted?: ReadonlySet<string>,
): unknown {
  first = start;
  position = start;
  last = end;
  characters = undefined;
  const item = wanted === undefined ? readItem(bytes, 0) : readWanted(bytes, wanted);
  characters = undefined;
  if (position !== last) throw unknownItem;
  return item;
}

function readWanted(source: Uint8Array, wanted: ReadonlySet<string>): unknown {
  const tag = source[position]!;
  if (tag >= 0x80 && tag < 0x90) {
    position++;
    return readMap(source, tag & 0x0f, 1, wanted);
  }
  if (tag !== 0xde) return readItem(source, 0);
  position++;
  return readMap(source, readUint16(source), 1, wanted);
}

function readItem(source: Uint8Array, level: number): unknown {
  const tag = source[position++]!;
  if (tag < 0x80) return tag;
  if (tag >= 0xe0) return tag - 0x100;
  if (tag >= 0xa0 && tag < 0xc0) return readText(source, tag & 0x1f);
  if (tag < 0x90) return readMap(source, tag & 0x0f, level + 1, undefined);
  if (tag < 0xa0) return readArray(source, tag & 0x0f, level + 1);
  switch (tag) {
    case 0xc0:
      return null;
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xc4:
      return readBytes(source, readUint8(source));
    case 0xc5:
      return readBytes(source, readUint16(source));
    case 0xc6:
      return readBytes(source, readUint32(source));
    case 0xc7:
      return readLongTimestamp(source);
    case 0xcb:
      return readFloat(source);
    case 0xcc:
      return readUint8(source);
    case 0xcd:
      return readUint16(source);
    case 0xce:
      return readUint32(source);
    case 0xd0:
      return (readUint8(source) << 24) >> 24;
    case 0xd1:
      return (readUint16(source) << 16) >> 16;
    case 0xd2:
      return readUint32(source) | 0;
    case 0xd3:
      return readBigint(source);
    case 0xd4:
      return readUndefined(source);
    case 0xd6:
      return readSeconds(source);
    case 0xd7:
      return readTimestamp(source);
    case 0xd9:
      return readText(source, readUint8(source));
    case 0xda:
      return readText(source, readUint16(source));
    case 0xdb:
      return readText(source, readUint32(source));
    case 0xdc:
      return readArray(source, readUint16(source), level + 1);
    case 0xdd:
      return readArray(source, readUint32(source), level + 1);
    case 0xde:
      return readMap(source, readUint16(source), level + 1, undefined);
    case 0xdf:
      return readMap(source, readUint32(source), level + 1, undefined);
    default:
      throw unknownItem;
  }
}

/** Moves the position after the next `size` bytes, and returns where they start. */
function take(size: number): number {
  const from = position;
  position = from + size;
  if (position > last) throw unknownItem;
  return from;
}

function readUint8(source: Uint8Array): number {
  return source[take(1)]!;
}

function readUint16(source: Uint8Array): number {
  const from = take(2);
  return (source[from]! << 8) | source[from + 1]!;
}

function readUint32(source: Uint8Array): number {
  const from = take(4);
  const low = (source[from + 1]! << 16) | (source[from + 2]! << 8) | source[from + 3]!;
  return source[from]! * 0x1000000 + low;
}

function readMap(
  source: Uint8Array,
  size: number,
  level: number,
  wanted: ReadonlySet<string> | undefined,
): Record<string, unknown> {
  if (level > mostLevels || size > last - position) throw unknownItem;
  const object: Record<string, unknown> = {};
  /** Undefined after a name that is not learned. */
  let path: PropertyName | undefined = noName();
  for (let i = 0; i < size; i++) {
    const known: PropertyName | undefined =
      path === undefined ? undefined : nameAt(path, source, position);
    let name: string;
    if (known === undefined) {
      const from = position;
      name = readName(source);
      path &&= learnName(path, name, source.subarray(from, position));
    } else {
      position += known.bytes.length;
      name = known.name;
      path = known;
    }
    if (wanted === undefined || wanted.has(name)) object[name] = readItem(source, level);
    else skipItem(source, level);
  }
  return object;
}

function readName(source: Uint8Array): string {
  const tag = source[position++]!;
  let name: string;
  if (tag >= 0xa0 && tag < 0xc0) name = readText(source, tag & 0x1f);
  else if (tag === 0xd9) name = readText(source, readUint8(source));
  else if (tag === 0xda) name = readText(source, readUint16(source));
  else throw unknownItem;
  // An assignment would set the prototype.
  if (name === "__proto__") throw unknownItem;
  return name;
}

function readArray(source: Uint8Array, size: number, level: number): unknown[] {
  if (level > mostLevels || size > last - position) throw unknownItem;
  const array = new Array<unknown>(size);
  for (let i = 0; i < size; i++) array[i] = readItem(source, level);
  return array;
}

function readText(source: Uint8Array, size: number): string {
  const from = take(size);
  const to = from + size;
  if (size > mostChecked || !isAscii(source, from, to)) return readUtf8(source, from, to);
  if (last - first > mostShared) return latin1Slice.call(source, from, to);
  characters ??= latin1Slice.call(source, first, last);
  return characters.slice(from - first, to - first);
}

function isAscii(source: Uint8Array, from: number, to: number): boolean {
  let bits = 0;
  let i = from;
  for (; i + 4 <= to; i += 4) {
    bits |= source[i]! | source[i + 1]! | source[i + 2]! | source[i + 3]!;
  }
  for (; i < to; i++) bits |= source[i]!;
  return bits < 0x80;
}

/** Throws for a text that may have come from bytes that are not UTF-8. */
function readUtf8(source: Uint8Array, from: number, to: number): string {
  const text = utf8Slice.call(source, from, to);
  if (text.charCodeAt(0) === byteOrderMark || text.includes(replacement)) throw unknownItem;
  return text;
}

function readBytes(source: Uint8Array, size: number): Uint8Array {
  const from = take(size);
  const bytes = new Uint8Array(size);
  bytes.set(source.subarray(from, from + size));
  return bytes;
}

function readFloat(source: Uint8Array): number {
  const from = take(8);
  for (let i = 0; i < 8; i++) float.setUint8(i, source[from + i]!);
  return float.getFloat64(0);
}

function readBigint(source: Uint8Array): bigint {
  const from = take(8);
  for (let i = 0; i < 8; i++) float.setUint8(i, source[from + i]!);
  return float.getBigInt64(0);
}

function readUndefined(source: Uint8Array): undefined {
  const from = take(2);
  if (source[from] !== 0 || source[from + 1] !== 0) throw unknownItem;
  return undefined;
}

/** The extension type of timestamps, which are dates. */
const timestamp = 0xff;

function readSeconds(source: Uint8Array): Date {
  if (source[position++] !== timestamp) throw unknownItem;
  return new Date(readUint32(source) * 1000);
}

/** Reads 30 bits of nanoseconds, and 34 bits of seconds. */
function readTimestamp(source: Uint8Array): Date {
  if (source[position++] !== timestamp) throw unknownItem;
  const first = readUint32(source);
  const nanoseconds = first >>> 2;
  return dateOf((first & 3) * 2 ** 32 + readUint32(source), nanoseconds);
}

/** Reads 32 bits of nanoseconds, and seconds as a signed integer of 64 bits. */
function readLongTimestamp(source: Uint8Array): Date {
  const from = take(14);
  const sign = source[from + 6]!;
  const isKnown = source[from] === 12 && source[from + 1] === timestamp;
  if (!isKnown || (sign !== 0 && sign !== 0xff) || source[from + 7] !== sign) throw unknownItem;
  position = from + 2;
  const nanoseconds = readUint32(source);
  position = from + 8;
  const high = readUint16(source) * 2 ** 32;
  return dateOf((sign === 0 ? 0 : -(2 ** 48)) + high + readUint32(source), nanoseconds);
}

function dateOf(seconds: number, nanoseconds: number): Date {
  if (nanoseconds >= 1e9) throw unknownItem;
  return new Date(nanoseconds / 1e6 + seconds * 1000);
}

/** Moves the position after an item, without checking what is in texts, bytes and dates. */
function skipItem(source: Uint8Array, level: number): void {
  const tag = source[position]!;
  if (tag >= 0xa0 && tag < 0xc0) take(1 + (tag & 0x1f));
  else if (tag >= 0x80 && tag < 0x90) skipItems(source, (tag & 0x0f) * 2, level + 1);
  else if (tag >= 0x90 && tag < 0xa0) skipItems(source, tag & 0x0f, level + 1);
  else if (tag === 0xd6) take(6);
  else if (tag === 0xcb) take(9);
  else {
    const size = sizeOfText(source, tag);
    if (size === undefined) readItem(source, level);
    else take(size);
  }
}

/** Skips a tag, and as many items. */
function skipItems(source: Uint8Array, count: number, level: number): void {
  if (level > mostLevels) throw unknownItem;
  position++;
  for (let i = 0; i < count; i++) skipItem(source, level);
}

/**
 * Returns the size in bytes of a text or of bytes, after the tag and the size. Undefined for
 * another item, whose tag then comes next.
 */
function sizeOfText(source: Uint8Array, tag: number): number | undefined {
  position++;
  if (tag === 0xd9 || tag === 0xc4) return readUint8(source);
  if (tag === 0xda || tag === 0xc5) return readUint16(source);
  if (tag === 0xdb || tag === 0xc6) return readUint32(source);
  position--;
  return undefined;
}
