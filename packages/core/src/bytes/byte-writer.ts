/** The largest buffer, in bytes, that is kept for reuse. */
const mostKept = 0x10000;

/**
 * A growable byte buffer that is written from front to back. `take()` returns a copy of the written
 * bytes and empties the buffer for reuse.
 */
export class ByteWriter {
  readonly #initialCapacity: number;
  bytes: Uint8Array;
  length = 0;

  constructor(initialCapacity: number) {
    this.#initialCapacity = initialCapacity;
    this.bytes = new Uint8Array(initialCapacity);
  }

  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** Appends one byte. The caller must have reserved room for it. */
  push(byte: number): void {
    this.bytes[this.length++] = byte;
  }

  take(): Uint8Array {
    const taken = this.bytes.slice(0, this.length);
    this.length = 0;
    if (this.bytes.length > mostKept) this.bytes = new Uint8Array(this.#initialCapacity);
    return taken;
  }
}
