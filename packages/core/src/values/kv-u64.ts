const limit = 1n << 64n;

/**
 * A 64-bit unsigned integer, the value that `sum`, `min` and `max` work on. It can be stored as a value of its own, not
 * within an object or array.
 */
export class KvU64 {
  readonly value: bigint;

  /**
   * @throws {TypeError} for anything but a bigint, with Deno KV's text.
   * @throws {RangeError} below 0n or from 2^64 on, with Deno KV's text.
   */
  constructor(value: bigint) {
    if (typeof value !== "bigint") {
      throw new TypeError(`Value must be a bigint: received ${typeof value}`);
    }
    if (value < 0n) throw new RangeError(`Value must be a positive bigint: received ${value}`);
    if (value >= limit) throw new RangeError("Value must fit in a 64-bit unsigned integer");
    this.value = value;
    Object.freeze(this);
  }

  valueOf(): bigint {
    return this.value;
  }

  toString(): string {
    return this.value.toString();
  }

  get [Symbol.toStringTag](): string {
    return "Deno.KvU64";
  }
}
