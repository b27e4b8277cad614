/**
 * Reads the variable-length integers and byte strings of LevelDB's files, in order.
 *
 * @throws {RangeError} from each method if the bytes end too early, or if an integer is unsafe.
 */
export class ByteReader {
  position: number;
  readonly #bytes: Uint8Array;
  readonly #end: number;

  constructor(bytes: Uint8Array, position = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.position = position;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.position >= this.#end;
  }

  /** Reads an integer in groups of seven bits, the lowest first. */
  varint(): number {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 49; factor *= 128) {
      if (this.isAtEnd) throw new RangeError("the bytes end within an integer");
      const byte = this.#bytes[this.position++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80 && Number.isSafeInteger(value)) return value;
    }
    throw new RangeError("an integer is too large");
  }

  /** Returns a view of the next `length` bytes. */
  bytes(length: number): Uint8Array {
    const start = this.position;
    if (start + length > this.#end) throw new RangeError("the bytes end too early");
    this.position = start + length;
    return this.#bytes.subarray(start, this.position);
  }

  /** Returns a view of bytes that follow their length. */
  lengthPrefixed(): Uint8Array {
    return this.bytes(this.varint());
  }
}
