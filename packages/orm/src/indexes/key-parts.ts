import { decodeKey, encodeKey, type KvKeyPart } from "@keywright/core";

/**
 * The key part that holds a value: a date its milliseconds since 1970, so that dates sort by time, and -0 is 0, so that
 * equal numbers have one key. So has NaN, whose sign the runtime may change at any time. Undefined for a value that no key
 * part holds, which an invalid date is, too: it is no time.
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

/** Whether two key parts are the same part of a key. */
export function isSamePart(a: KvKeyPart | undefined, b: KvKeyPart | undefined): boolean {
  if (typeof a !== "object" || typeof b !== "object") return Object.is(a, b);
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** Whether two lists of key parts are the same key. */
export function isSameKey(a: readonly KvKeyPart[], b: readonly KvKeyPart[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (!isSamePart(a[i], b[i])) return false;
  }
  return true;
}

/** The next part of the same type after `part`, undefined where it is the type's last. */
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
 * A part that sorts the other way round: the bytes of the part's encoding and a zero byte, each of them inverted. Where one
 * encoding begins another, as that of `"a"` does of `"a\0"`, the other goes on with `FF`: the zero byte tells them apart.
 */
export function descendingPart(part: KvKeyPart): Uint8Array {
  const bytes = encodeKey([part]);
  const inverted = new Uint8Array(bytes.length + 1).fill(0xff);
  for (let i = 0; i < bytes.length; i++) inverted[i] = bytes[i]! ^ 0xff;
  return inverted;
}

/** The part of which {@link descendingPart} made this one; undefined where it is none of them. */
export function ascendingPart(part: KvKeyPart): KvKeyPart | undefined {
  if (!(part instanceof Uint8Array) || part.at(-1) !== 0xff) return undefined;
  try {
    return decodeKey(part.subarray(0, -1).map((byte) => byte ^ 0xff))[0];
  } catch {
    return undefined;
  }
}
