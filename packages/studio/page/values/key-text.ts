import type { KeyPart } from "../../src/protocol/studio-info.js";
import { bytesIn, hexText } from "./hex-text.js";

/** Returns a part of a key as it is typed: `"users"`, `1`, `1n`, `true`, `0x0aff`. */
export function keyPartText(part: KeyPart): string {
  if (typeof part === "string") return JSON.stringify(part);
  if (typeof part === "bigint") return `${part}n`;
  if (part instanceof Uint8Array) return `0x${hexText(part)}`;
  return Object.is(part, -0) ? "-0" : String(part);
}

/** Returns a key as it is typed: `["users", 1]`. */
export function keyText(key: readonly KeyPart[]): string {
  return `[${key.map(keyPartText).join(", ")}]`;
}

export function keyPartType(part: KeyPart): string {
  return part instanceof Uint8Array ? "bytes" : typeof part;
}

const token =
  /\s*("(?:[^"\\]|\\.)*"|0x[0-9a-f]*|-?\d+n|-?(?:\d+\.?\d*(?:e[+-]?\d+)?|Infinity)|NaN|true|false)\s*(,|\]|$)/iy;

/**
 * Returns the key that somebody typed. The brackets can be left out.
 *
 * @throws {Error} that says what is wrong.
 */
export function parseKey(text: string): KeyPart[] {
  const inner = text.trim().replace(/^\[/, "").replace(/\]$/, "").trim();
  const parts: KeyPart[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < inner.length) {
    const at = token.lastIndex;
    const part = token.exec(inner)?.[1];
    if (part === undefined) {
      throw new Error(`A key is a list such as ["users", 1, 2n, true]. Wrong: ${inner.slice(at)}`);
    }
    parts.push(partIn(part));
  }
  return parts;
}

function partIn(text: string): KeyPart {
  if (text.startsWith('"')) return JSON.parse(text);
  if (text === "true" || text === "false") return text === "true";
  if (/^0x/i.test(text)) return bytesIn(text.slice(2));
  return text.endsWith("n") ? BigInt(text.slice(0, -1)) : Number(text);
}
