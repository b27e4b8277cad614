/**
 * Larger values end with an ellipsis: a value that is shared again and again has no end in JSON.
 */
const maxParts = 100_000;

/**
 * Returns a value as JSON can represent it: dates in ISO 8601, bigints as decimal digits, bytes in
 * base64, sets as arrays, maps as arrays of pairs, and anything else that JSON does not have as
 * text. An object within itself is an ellipsis.
 */
export function plainJson(value: unknown): unknown {
  let parts = 0;
  const path = new Set<object>();
  const convert = (each: unknown): unknown => {
    if (typeof each === "number") return Number.isFinite(each) ? each : String(each);
    if (typeof each === "bigint") return String(each);
    if (typeof each !== "object" || each === null) return each;
    if (each instanceof Date) return Number.isNaN(each.getTime()) ? null : each.toISOString();
    if (ArrayBuffer.isView(each)) return base64(each.buffer, each.byteOffset, each.byteLength);
    if (each instanceof ArrayBuffer) return base64(each, 0, each.byteLength);
    if (each instanceof RegExp || each instanceof URL) return String(each);
    if (++parts > maxParts || path.has(each)) return "…";
    path.add(each);
    const converted =
      each instanceof Map || each instanceof Set || Array.isArray(each)
        ? Array.from(each as Iterable<unknown>, convert)
        : Object.fromEntries(Object.entries(each).map(([name, one]) => [name, convert(one)]));
    path.delete(each);
    return converted;
  };
  return convert(value);
}

function base64(buffer: ArrayBufferLike, offset: number, length: number): string {
  return Buffer.from(buffer as ArrayBuffer, offset, length).toString("base64");
}
