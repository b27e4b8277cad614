/** The encodings of texts that are used. */
type Encoding = "utf8" | "latin1" | "hex" | "base64url";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
/** How many characters are made by one call. More arguments than about 65,000 are refused. */
const charactersPerCall = 0x2000;

/** The part of Node.js's `Buffer` that this package and `@keywright/orm` use. */
class Bytes extends Uint8Array {
  override toString(encoding: Encoding = "utf8"): string {
    switch (encoding) {
      case "utf8":
        return this.utf8Slice(0, this.length);
      case "latin1":
        return this.latin1Slice(0, this.length);
      case "hex":
        return Array.from(this, (byte) => byte.toString(16).padStart(2, "0")).join("");
      case "base64url":
        return btoa(this.latin1Slice(0, this.length))
          .replaceAll("+", "-")
          .replaceAll("/", "_")
          .replaceAll("=", "");
    }
  }

  /** Can be called on any `Uint8Array`. */
  latin1Slice(start: number, end: number): string {
    let text = "";
    for (let from = start; from < end; from += charactersPerCall) {
      const part = this.subarray(from, Math.min(from + charactersPerCall, end));
      text += String.fromCharCode.apply(undefined, part as unknown as number[]);
    }
    return text;
  }

  /** Can be called on any `Uint8Array`. */
  utf8Slice(start: number, end: number): string {
    return decoder.decode(this.subarray(start, end));
  }

  override subarray(start?: number, end?: number): Bytes {
    return super.subarray(start, end) as Bytes;
  }

  equals(other: Uint8Array): boolean {
    return compare(this, other) === 0;
  }

  readUInt32BE(offset = 0): number {
    return viewOf(this).getUint32(offset);
  }

  readBigUInt64BE(offset: number): bigint {
    return viewOf(this).getBigUint64(offset);
  }

  writeBigUInt64BE(value: bigint, offset: number): number {
    viewOf(this).setBigUint64(offset, value);
    return offset + 8;
  }

  writeUIntBE(value: number, offset: number, size: number): number {
    for (let i = size - 1, rest = value; i >= 0; i--, rest = Math.floor(rest / 0x100))
      this[offset + i] = rest % 0x100;
    return offset + size;
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function from(
  source: string | Uint8Array | ArrayBufferLike,
  encodingOrOffset?: Encoding | number,
  length?: number,
): Bytes {
  if (typeof source === "string") return bytesOfText(source, encodingOrOffset as Encoding);
  return ArrayBuffer.isView(source)
    ? new Bytes(source)
    : new Bytes(source as ArrayBuffer, encodingOrOffset as number, length);
}

function bytesOfText(text: string, encoding: Encoding = "utf8"): Bytes {
  if (encoding === "base64url") return bytesOfText(binaryOfBase64(text), "latin1");
  if (encoding === "utf8") return new Bytes(encoder.encode(text));
  const bytes = new Bytes(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Skips what is not base64, as Node.js does. Callers compare the text with that of the bytes. */
function binaryOfBase64(text: string): string {
  const digits = text.replace(/=.*$/s, "").replaceAll("-", "+").replaceAll("_", "/");
  const valid = digits.replaceAll(/[^A-Za-z0-9+/]/g, "");
  return atob(valid.length % 4 === 1 ? valid.slice(0, -1) : valid);
}

function concat(list: readonly Uint8Array[]): Bytes {
  const bytes = new Bytes(list.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of list) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

function compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1;
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

const alloc = (size: number): Bytes => new Bytes(size);
const isBuffer = (value: unknown): value is Bytes => value instanceof Bytes;

export type Buffer = Bytes;
interface BufferClass {
  readonly prototype: Bytes;
  readonly from: typeof from;
  readonly of: (...bytes: number[]) => Bytes;
  readonly alloc: typeof alloc;
  readonly allocUnsafe: typeof alloc;
  readonly allocUnsafeSlow: typeof alloc;
  readonly concat: typeof concat;
  readonly compare: typeof compare;
  readonly isBuffer: typeof isBuffer;
}

// Assigned, because the types of a subclass may not change what `from` of the class takes.
export const Buffer: BufferClass = Object.assign(Bytes, {
  from,
  alloc,
  allocUnsafe: alloc,
  allocUnsafeSlow: alloc,
  concat,
  compare,
  isBuffer,
}) as unknown as BufferClass;
