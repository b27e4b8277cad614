import { Buffer } from "node:buffer";
import { encodeKey, encodeValue, type KvKey, type KvKeyPart } from "@keywright/core";
import { decodeForeignValue } from "@keywright/core/engine";
import { escapeJson } from "./escape-controls.js";
import { type Json, jsonOfValue, valueOfJson } from "./value-json.js";
import { valueOfWord, wordOf } from "./value-token.js";

export interface ExportedEntry {
  readonly key: KvKey;
  readonly value: unknown;
  /** In milliseconds since 1970. Undefined if there is none, or if the database hides it. */
  readonly expireAt?: number | undefined;
}

export interface ExportEnd {
  readonly entries: number;
}

export const exportHeader: string = JSON.stringify({ keywright: "export", format: 1 });

/** Returns the last line of an export. An export without it was truncated. */
export function endLine(entries: number): string {
  return JSON.stringify({ keywright: "end", entries });
}

/** Returns why a text is not the first line of an export of this format. Undefined if it is. */
export function headerFault(line: string | undefined): string | undefined {
  const { keywright, format } = jsonObject(line) as { keywright?: unknown; format?: unknown };
  if (keywright !== "export") return `the first line is not ${exportHeader}`;
  return format === 1
    ? undefined
    : `its format is ${JSON.stringify(format)}, but this version reads only format 1`;
}

/**
 * Returns an entry as one line of JSON.
 *
 * - `key` is an array, with `{"$": "1n"}` for a word of `wordOf`.
 * - `value` is the JSON of `jsonOfValue`. If that cannot represent the value, the line has
 *   `encoded` instead: the bytes of `encodeValue` in base64.
 * - `expireAt` is present if the entry expires.
 */
export function entryLine(entry: ExportedEntry): string {
  // A terminal may show the line.
  return escapeJson(JSON.stringify(entryJson(entry)));
}

function entryJson({ key, value, expireAt }: ExportedEntry): {
  readonly [name: string]: Json;
} {
  return {
    key: keyJson(key),
    ...valueFields(value),
    ...(expireAt !== undefined && { expireAt }),
  };
}

/** Returns a key as a JSON array, with `{"$": "1n"}` for a word of `wordOf`. */
export function keyJson(key: KvKey): Json {
  return key.map((part) => {
    const word = wordOf(part);
    return word === undefined ? (part as Json) : { $: word };
  });
}

/** Returns the field for a value: `value`, or `encoded` if JSON cannot represent it. */
export function valueFields(value: unknown): { readonly [name: string]: Json } {
  const json = jsonOfValue(value);
  return json === undefined
    ? { encoded: Buffer.from(encodeValue(value)).toString("base64") }
    : { value: json };
}

/** Parses a line that {@link entryLine} or {@link endLine} wrote. */
export function parseLine(line: string): ExportedEntry | ExportEnd {
  const json = jsonObject(line) as JsonFields;
  return json.keywright === "end" ? endOf(json) : toExportedEntry(json);
}

type JsonFields = { readonly [name: string]: Json };

function endOf({ entries }: JsonFields): ExportEnd {
  if (typeof entries === "number") return { entries };
  throw new TypeError("the last line does not contain the number of entries");
}

function toExportedEntry({ key, value, encoded, expireAt, ...others }: JsonFields): ExportedEntry {
  if (key === undefined) throw new TypeError("it is not a JSON object with a key");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new TypeError(`there is no field ${JSON.stringify(unknown)} in an entry`);
  if ((value === undefined) === (encoded === undefined)) {
    throw new TypeError("an entry must have one of the fields value and encoded");
  }
  if (expireAt !== undefined && !Number.isSafeInteger(expireAt)) {
    throw new TypeError("expireAt must be a whole number of milliseconds");
  }
  const stored = value === undefined ? valueOfBase64(encoded) : valueOfJson(value);
  return { key: keyOf(key), value: stored, expireAt: expireAt as number | undefined };
}

function keyOf(json: Json | undefined): KvKeyPart[] {
  if (!Array.isArray(json) || json.length === 0) {
    throw new TypeError("the key is not an array of parts");
  }
  const key = json.map(partOf);
  // Throws if this is not a key, for example if a string contains a lone surrogate.
  encodeKey(key);
  return key;
}

function partOf(json: Json): KvKeyPart {
  if (typeof json === "string" || typeof json === "number" || typeof json === "boolean")
    return json;
  const { $: word, ...others } = (json ?? {}) as { readonly [name: string]: Json };
  const [part] = typeof word === "string" ? valueOfWord(word) : [];
  if (part === undefined || Object.keys(others).length > 0) {
    throw new TypeError(`${JSON.stringify(json)} is not a key part`);
  }
  return part;
}

function valueOfBase64(encoded: Json | undefined): unknown {
  const bytes = typeof encoded === "string" ? Buffer.from(encoded, "base64") : undefined;
  if (bytes === undefined || bytes.toString("base64") !== encoded) {
    throw new TypeError("encoded is not base64");
  }
  return decodeForeignValue(bytes);
}

/** True if a text is not JSON. Such a text can only be a truncated line. */
export function isLinePart(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

function jsonObject(line = ""): object {
  try {
    const json: unknown = JSON.parse(line);
    return typeof json === "object" && json !== null ? json : {};
  } catch {
    return {};
  }
}
