/** A buffer that has grown beyond this many bytes is not kept. */
const mostKept = 0x10000;

/** A growing byte buffer that is written front to back and reused: `take()` copies out what was written and empties it. */
export class ByteWriter {
  readonly #initialCapacity: number;
  bytes: Uint8Array;
  length = 0;

  constructor(initialCapacity: number) {
    this.#initialCapacity = initialCapacity;
    this.bytes = new Uint8Array(initialCapacity);
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** Appends one byte for which `reserve` has made room. */
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
