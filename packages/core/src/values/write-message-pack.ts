import { Buffer } from "node:buffer";

/** The size in bytes of the memory that values share. */
const chunkBytes = 0x2000;
/** If a chunk has less room than this, in bytes, a new one begins. */
const leastRoom = 0x400;
/** Texts of up to this many characters are written in JavaScript, longer ones by the runtime. */
const mostWritten = 64;
/** The largest size of a character in bytes. */
const characterBytes = 3;
/** The largest size in bytes of a tag and the number after it. */
const headBytes = 9;

let chunk: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(chunkBytes);
let view = new DataView(chunk.buffer);
/** Where the next byte is written in the chunk. Bytes before a value are never changed again. */
let position = 0;
let isWriting = false;

/**
 * Writes a byte, and then a plain value as msgpackr writes it. The bytes share memory with those of
 * other values.
 *
 * @param value plain data. Nobody checks that here.
 * @returns undefined if the value is too large, or has bytes or a bigint, or if a getter of another
 * value encodes this one. msgpackr then has to write it.
 */
export function writeAfter(byte: number, value: unknown): Uint8Array | undefined {
  if (isWriting) return undefined;
  if (position + leastRoom > chunkBytes) {
    chunk = Buffer.allocUnsafeSlow(chunkBytes);
    view = new DataView(chunk.buffer);
    position = 0;
  }
  const start = position;
  let isWritten = false;
  isWriting = true;
  try {
    chunk[position++] = byte;
    isWritten = writeItem(value);
  } finally {
    isWriting = false;
    if (!isWritten) position = start;
  }
  return isWritten ? new Uint8Array(chunk.buffer, start, position - start) : undefined;
}

/** Returns false if the chunk has no room, or if the value is of another kind. */
function writeItem(value: unknown): boolean {
  if (typeof value === "string") return writeText(value);
  if (position + headBytes > chunkBytes) return false;
  switch (typeof value) {
    case "number":
      return writeNumber(value);
    case "boolean":
      chunk[position++] = value ? 0xc3 : 0xc2;
      return true;
    case "undefined":
      chunk[position++] = 0xd4;
      chunk[position++] = 0;
      chunk[position++] = 0;
      return true;
    case "object":
      return writeObject(value);
    default:
      return false;
  }
}

function writeObject(value: object | null): boolean {
  if (value === null) {
    chunk[position++] = 0xc0;
    return true;
  }
  if (Array.isArray(value)) return writeArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype) return writeMap(value as Record<string, unknown>);
  return prototype === Date.prototype && writeDate(value as Date);
}

function writeMap(object: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(object);
  const { length } = names;
  if (length < 0x10) chunk[position++] = 0x80 | length;
  else writeSize(0xde, length);
  for (let i = 0; i < length; i++) {
    const name = names[i]!;
    if (!writeText(name) || !writeItem(object[name])) return false;
  }
  return length < 0x10000;
}

function writeArray(array: readonly unknown[]): boolean {
  const { length } = array;
  if (length < 0x10) chunk[position++] = 0x90 | length;
  else writeSize(0xdc, length);
  for (let i = 0; i < length; i++) if (!writeItem(array[i])) return false;
  return length < 0x10000;
}

function writeSize(tag: number, size: number): void {
  chunk[position++] = tag;
  chunk[position++] = size >> 8;
  chunk[position++] = size;
}

function writeText(text: string): boolean {
  const { length } = text;
  const bytes = chunk;
  let at = position;
  if (at + headBytes + length * characterBytes > chunkBytes) return false;
  if (length > mostWritten) return writeUtf8(text);
  if (length < 0x20) bytes[at++] = 0xa0 | length;
  else {
    bytes[at++] = 0xd9;
    bytes[at++] = length;
  }
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80) return writeUtf8(text);
    bytes[at++] = code;
  }
  position = at;
  return true;
}

function writeUtf8(text: string): boolean {
  const size = Buffer.byteLength(text);
  if (size < 0x20) chunk[position++] = 0xa0 | size;
  else if (size < 0x100) {
    chunk[position++] = 0xd9;
    chunk[position++] = size;
  } else writeSize(0xda, size);
  position += chunk.write(text, position, size);
  return true;
}

function writeNumber(value: number): boolean {
  if (value >>> 0 === value) writeUnsigned(value);
  else if (value >> 0 === value) writeNegative(value);
  else {
    chunk[position] = 0xcb;
    view.setFloat64(position + 1, value);
    position += 9;
  }
  return true;
}

function writeUnsigned(value: number): void {
  if (value < 0x80) chunk[position++] = value;
  else if (value < 0x100) {
    chunk[position++] = 0xcc;
    chunk[position++] = value;
  } else if (value < 0x10000) writeSize(0xcd, value);
  else {
    chunk[position] = 0xce;
    view.setUint32(position + 1, value);
    position += 5;
  }
}

function writeNegative(value: number): void {
  if (value >= -0x20) chunk[position++] = value;
  else if (value >= -0x80) {
    chunk[position++] = 0xd0;
    chunk[position++] = value;
  } else if (value >= -0x8000) writeSize(0xd1, value);
  else {
    chunk[position] = 0xd2;
    view.setInt32(position + 1, value);
    position += 5;
  }
}

/** Writes the date as a timestamp, if it is between 1970 and 2106. */
function writeDate(date: Date): boolean {
  const time = Date.prototype.getTime.call(date);
  const seconds = Math.floor(time / 1000);
  const milliseconds = time - seconds * 1000;
  if (!(seconds >= 0 && seconds < 2 ** 32)) return false;
  if (position + 1 + headBytes > chunkBytes) return false;
  const isWhole = milliseconds === 0;
  chunk[position] = isWhole ? 0xd6 : 0xd7;
  chunk[position + 1] = 0xff;
  position += 2;
  if (!isWhole) {
    // 30 bits of nanoseconds, and the highest two of 34 bits of seconds, which are 0.
    view.setUint32(position, milliseconds * 4_000_000);
    position += 4;
  }
  view.setUint32(position, seconds);
  position += 4;
  return true;
}
