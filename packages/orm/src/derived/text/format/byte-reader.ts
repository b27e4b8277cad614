const decoder = new TextDecoder();

/** Thrown if stored bytes of a text index end too early. */
export class TextBytesError extends Error {
  constructor() {
    super("the bytes of a text index end too early");
  }
}

/** Reads what a `ByteWriter` has written. */
export class ByteReader {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, at = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  varint(): number {
    const { bytes } = this;
    let byte = bytes[this.at++];
    if (byte === undefined) throw new TextBytesError();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let factor = 0x80;
    do {
      byte = bytes[this.at++];
      if (byte === undefined) throw new TextBytesError();
      value += (byte & 0x7f) * factor;
      factor *= 0x80;
    } while (byte >= 0x80);
    return value;
  }

  /** Returns the next bytes without a copy. */
  take(length: number): Uint8Array {
    const start = this.at;
    this.at += length;
    if (this.at > this.end) throw new TextBytesError();
    return this.bytes.subarray(start, this.at);
  }

  text(): string {
    return textOf(this.take(this.varint()));
  }
}

export function textOf(bytes: Uint8Array): string {
  // Short texts of ASCII are decoded faster without the decoder.
  if (bytes.length > 32) return decoder.decode(bytes);
  let text = "";
  for (const byte of bytes) {
    if (byte > 0x7f) return decoder.decode(bytes);
    text += String.fromCharCode(byte);
  }
  return text;
}
