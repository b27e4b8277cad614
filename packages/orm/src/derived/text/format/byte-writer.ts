const encoder = new TextEncoder();

/** Writes numbers and texts into bytes that grow. */
export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Writes an integer of at least 0 in groups of 7 bits, the lowest first. */
  varint(value: number): void {
    if (this.#length + 8 > this.#bytes.length) this.#reserve(8);
    const bytes = this.#bytes;
    let rest = value;
    while (rest > 0x7f_ff_ff_ff) {
      bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    while (rest > 0x7f) {
      bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[this.#length++] = rest;
  }

  /** Writes bytes without their length. */
  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Writes `source[start, end)`. */
  copy(source: Uint8Array, start: number, end: number): void {
    if (this.#length + end - start > this.#bytes.length) this.#reserve(end - start);
    const bytes = this.#bytes;
    // Most are a few bytes, for which a view would take longer.
    if (end - start > 64) bytes.set(source.subarray(start, end), this.#length);
    else for (let i = start; i < end; i++) bytes[this.#length + i - start] = source[i]!;
    this.#length += end - start;
  }

  /** Writes a text after the number of its bytes. */
  text(value: string): void {
    const { length } = value;
    this.#reserve(2 + 3 * length);
    const bytes = this.#bytes;
    // Most words are ASCII, and a call of the encoder takes longer than they do.
    let isAscii = length < 0x80;
    const start = this.#length + 1;
    for (let i = 0; isAscii && i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) isAscii = false;
      else bytes[start + i] = code;
    }
    if (isAscii) {
      bytes[this.#length] = length;
      this.#length = start + length;
      return;
    }
    const encoded = encoder.encode(value);
    this.varint(encoded.length);
    this.bytes(encoded);
  }

  /** Returns a copy of what was written. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Returns what was written, until the next write. */
  get view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}
