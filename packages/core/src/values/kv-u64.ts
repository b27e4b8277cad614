const limit = 1n << 64n;

/**
 * A 64-bit unsigned integer, the value that `sum`, `min` and `max` work on. It can be stored as a value of its own, not
 * within an object or array.
 */
export class KvU64 {
  readonly value: bigint;

  /**
   * @throws {TypeError} for anything but a bigint.
   * @throws {RangeError} below 0n or from 2^64 on.
   */
  constructor(value: bigint) {
    if (typeof value !== "bigint") throw new TypeError("A KvU64 is made of a bigint.");
    if (value < 0n) throw new RangeError("A KvU64 cannot be negative.");
    if (value >= limit) throw new RangeError("A KvU64 is less than 2^64.");
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
    return "KvU64";
  }
}
