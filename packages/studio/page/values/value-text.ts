import { WireText, WireU64 } from "../../src/protocol/wire.js";
import { hexText } from "./hex-text.js";

/** Returns a value on one line, cut after about `budget` characters. */
export function valueText(value: unknown, budget = 160): string {
  const pen = { text: "", budget };
  write(pen, value, 0);
  return pen.text.length > budget ? `${pen.text.slice(0, budget)}…` : pen.text;
}

/** Returns a date in ISO form, also if it is not valid. */
export function dateText(date: Date): string {
  return Number.isNaN(date.getTime()) ? "Invalid Date" : date.toISOString();
}

/** Returns `1 byte` or `2 bytes`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

interface Pen {
  text: string;
  readonly budget: number;
}

function write(pen: Pen, value: unknown, depth: number): void {
  if (pen.text.length > pen.budget) return;
  if (typeof value === "string") pen.text += depth === 0 ? value : JSON.stringify(value);
  else if (typeof value === "bigint") pen.text += `${value}n`;
  else if (typeof value === "number") pen.text += Object.is(value, -0) ? "-0" : String(value);
  else if (typeof value !== "object" || value === null) pen.text += String(value);
  else writeObject(pen, value, depth);
}

function writeObject(pen: Pen, value: object, depth: number): void {
  if (value instanceof Date) pen.text += dateText(value);
  else if (value instanceof Uint8Array) {
    pen.text += `${hexText(value, 32)} (${countText(value.length, "byte")})`;
  } else if (value instanceof WireU64) pen.text += `KvU64(${value.value}n)`;
  else if (isText(value)) pen.text += String(value);
  else if (depth > 8) pen.text += "…";
  else if (Array.isArray(value)) writeList(pen, "[", value, "]", depth);
  else if (value instanceof Set) writeList(pen, `Set(${value.size}) {`, value, "}", depth);
  else if (value instanceof Map) writeEntries(pen, `Map(${value.size}) {`, value, " → ", depth);
  else if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    pen.text += `${value.constructor.name} (${countText(value.byteLength, "byte")})`;
  } else writeEntries(pen, "{", Object.entries(value), ": ", depth);
}

/** True for objects that are shown as one text. */
export function isText(value: object): boolean {
  return value instanceof RegExp || value instanceof URL || value instanceof WireText;
}

function writeList(
  pen: Pen,
  open: string,
  items: Iterable<unknown>,
  close: string,
  depth: number,
): void {
  pen.text += open;
  let separator = "";
  for (const item of items) {
    if (pen.text.length > pen.budget) return;
    pen.text += separator;
    write(pen, item, depth + 1);
    separator = ", ";
  }
  pen.text += close;
}

function writeEntries(
  pen: Pen,
  open: string,
  entries: Iterable<readonly [unknown, unknown]>,
  between: string,
  depth: number,
): void {
  pen.text += open;
  let separator = "";
  for (const [name, value] of entries) {
    if (pen.text.length > pen.budget) return;
    pen.text += separator;
    if (between === ": " && typeof name === "string") pen.text += nameText(name);
    else write(pen, name, depth + 1);
    pen.text += between;
    write(pen, value, depth + 1);
    separator = ", ";
  }
  pen.text += "}";
}

function nameText(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);
}
