import { Buffer } from "node:buffer";

/**
 * Returns a value as JSON can represent it: dates in ISO 8601, sets and maps as arrays, and what
 * JSON lacks as an object: `{"$": "1n"}` for a bigint, `{"$": "b64:…"}` for bytes, `{"$": "NaN"}`
 * and the like for numbers, `{"$": "u64:1"}` for a `KvU64`. `undefined` is left out. An object
 * within itself is `"…"`.
 */
export function jsonOf(value: unknown): unknown {
  return convert(value, new Set());
}

function convert(value: unknown, path: Set<object>): unknown {
  if (typeof value === "bigint") return { $: `${value}n` };
  if (typeof value === "number") return Number.isFinite(value) ? value : { $: String(value) };
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof ArrayBuffer) return { $: base64(new Uint8Array(value)) };
  if (ArrayBuffer.isView(value)) {
    return { $: base64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) };
  }
  if (value instanceof RegExp || value instanceof URL || value instanceof Error)
    return String(value);
  if (isU64(value)) return { $: `u64:${value.value}` };
  if (path.has(value)) return "…";
  path.add(value);
  const converted =
    Array.isArray(value) || value instanceof Map || value instanceof Set
      ? Array.from(value as Iterable<unknown>, (each) => convert(each, path))
      : Object.fromEntries(
          Object.entries(value).map(([name, each]) => [name, convert(each, path)]),
        );
  path.delete(value);
  return converted;
}

function base64(bytes: Uint8Array): string {
  return `b64:${Buffer.from(bytes).toString("base64")}`;
}

/** True for a `KvU64` of any copy of the database's code. */
function isU64(value: object): value is { readonly value: bigint } {
  return (
    value.constructor?.name === "KvU64" && typeof (value as { value?: unknown }).value === "bigint"
  );
}
