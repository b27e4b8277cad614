const limit = 1n << 64n;

/**
 * A 64-bit unsigned integer, the value that `sum`, `min` and `max` work on. It can be stored as a value of its own, not
 * within an object or array.
 */
export class KvU64 {
  /** The integer: from 0n up to 2^64 - 1. */
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

  /** The integer as a bigint, so that `<` and the like compare it. */
  valueOf(): bigint {
    return this.value;
  }

  /** The integer in decimal digits. */
  toString(): string {
    return this.value.toString();
  }

  /** `"Deno.KvU64"`, as Deno's class has it. */
  get [Symbol.toStringTag](): string {
    return "Deno.KvU64";
  }
}
