import type { Terminal } from "./terminal.js";

/**
 * Writes a result for programs, as one JSON document: bigints as `"1n"`, bytes as `"b64:…"`, dates in ISO 8601, undefined left out.
 */
export function writeJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${JSON.stringify(value, jsonValue, 2)}\n`);
}

function jsonValue(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Uint8Array) return `b64:${Buffer.from(value).toString("base64")}`;
  return value;
}
