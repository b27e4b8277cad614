import type { FieldKind } from "../../src/protocol/studio-info.js";
import { hexText } from "./hex-text.js";
import { tagged } from "./tagged-json.js";
import { dateText } from "./value-text.js";

/** Returns a value as `parseValue` reads it. Empty for null and for an absent value. */
export function editText(kind: FieldKind, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (kind === "data") return JSON.stringify(tagged(value), null, 2);
  if (value instanceof Date) return dateText(value);
  if (value instanceof Uint8Array) return hexText(value);
  if (typeof value === "number" && Object.is(value, -0)) return "-0";
  return typeof value === "object" ? JSON.stringify(tagged(value)) : String(value);
}
