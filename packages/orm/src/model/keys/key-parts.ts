import { decodeKey, encodeKey, type KeyOrder, type KvKey, type KvKeyPart } from "@keywright/core";

/** The parts of a key, which may be decoded only now. */
export interface KeyParts {
  partAt(position: number): KvKeyPart | undefined;
}

/**
 * Returns the key part for a value. A date becomes its milliseconds since 1970, so that dates sort
 * by time. -0 becomes 0, and every NaN becomes the same NaN, so that equal values have one key. The
 * runtime may change the sign of a NaN at any time.
 *
 * @returns undefined if no key part can hold the value, or if it is an invalid date.
 */
export function keyPartOf(value: unknown): KvKeyPart | undefined {
  switch (typeof value) {
    case "string":
    case "bigint":
    case "boolean":
      return value;
    case "number":
      if (Number.isNaN(value)) return Number.NaN;
      return value === 0 ? 0 : value;
    default:
      if (value instanceof Date) {
        const time = value.getTime();
        return Number.isNaN(time) ? undefined : time;
      }
      return value instanceof Uint8Array ? value : undefined;
  }
}

/** True for the same part. Bytes are compared by content. NaN equals NaN, 0 does not equal -0. */
export function isSamePart(a: KvKeyPart | undefined, b: KvKeyPart | undefined): boolean {
  if (typeof a !== "object" || typeof b !== "object") return Object.is(a, b);
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

export function isSameKey(a: readonly KvKeyPart[], b: readonly KvKeyPart[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (!isSamePart(a[i], b[i])) return false;
  }
  return true;
}

const smallestPart: KvKeyPart = new Uint8Array();

export function keyAfter(key: KvKey): KvKey {
  return [...key, smallestPart];
}

/** Returns the smallest part of the same type after `part`, or undefined if there is none. */
export function partAfter(part: KvKeyPart): KvKeyPart | undefined {
  switch (typeof part) {
    case "string":
      return `${part}\u0000`;
    case "bigint":
      return part + 1n;
    case "boolean":
      return part ? undefined : true;
    case "number":
      return numberAfter(part);
    default: {
      const longer = new Uint8Array(part.length + 1);
      longer.set(part);
      return longer;
    }
  }
}

const bits = new DataView(new ArrayBuffer(8));

function numberAfter(value: number): number | undefined {
  if (Number.isNaN(value)) return undefined;
  if (value === Number.POSITIVE_INFINITY) return Number.NaN;
  if (value === 0) return Object.is(value, -0) ? 0 : Number.MIN_VALUE;
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return bits.getFloat64(0);
}

/**
 * Returns a part that sorts in descending order: the bytes of the encoded part and a zero byte,
 * each of them inverted. One encoding can be a prefix of another: that of `"a"` is a prefix of that
 * of `"a\0"`, which continues with `FF`. The zero byte makes the longer one sort first after the
 * inversion.
 *
 * @param order the order that the part reverses.
 */
export function descendingPart(part: KvKeyPart, order: KeyOrder): Uint8Array {
  const bytes = encodeKey([part], order);
  const inverted = new Uint8Array(bytes.length + 1).fill(0xff);
  for (let i = 0; i < bytes.length; i++) inverted[i] = bytes[i]! ^ 0xff;
  return inverted;
}

/** Returns the part for which {@link descendingPart} returns this one, if there is one. */
export function ascendingPart(part: KvKeyPart, order: KeyOrder): KvKeyPart | undefined {
  if (!(part instanceof Uint8Array) || part.at(-1) !== 0xff) return undefined;
  try {
    return decodeKey(
      part.subarray(0, -1).map((byte) => byte ^ 0xff),
      order,
    )[0];
  } catch {
    return undefined;
  }
}
