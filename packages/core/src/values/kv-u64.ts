import { defineInspect } from "./define-inspect.js";

const limit = 1n << 64n;

/**
 * A 64-bit unsigned integer, on which `sum`, `min` and `max` operate. It can be stored only as a
 * whole value, not inside an object or array.
 */
export class KvU64 {
  static {
    // The text of a BigInt object with another name, as in Deno: `[Deno.KvU64: 5n]`.
    defineInspect(KvU64, ({ value }, format) =>
      format(Object(value)).replace("BigInt", "Deno.KvU64"),
    );
  }

  /** The integer, from 0n to 2^64 - 1. */
  readonly value: bigint;

  /**
   * @throws {TypeError} if `value` is not a bigint. The message is that of Deno KV.
   * @throws {RangeError} if `value` is below 0n or above 2^64 - 1. The message is that of Deno KV.
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

  /** Returns the integer as a bigint, so that operators such as `<` compare it. */
  valueOf(): bigint {
    return this.value;
  }

  /** Returns the integer in decimal digits. */
  toString(): string {
    return this.value.toString();
  }

  /** `"Deno.KvU64"`, as in Deno's class. */
  get [Symbol.toStringTag](): string {
    return "Deno.KvU64";
  }
}

/** Returns the number in a `KvU64` of this package, of Deno or of `@deno/kv`. */
export function bigintOfU64(value: unknown): bigint | undefined {
  if (value instanceof KvU64) return value.value;
  if (typeof value !== "object" || value === null) return undefined;
  const { value: number } = value as { value?: unknown };
  if (typeof number !== "bigint" || typeof value.constructor !== "function") return undefined;
  // `@deno/kv` names its class `_KvU64`.
  return /^_?KvU64$/.test(value.constructor.name) ? number : undefined;
}
