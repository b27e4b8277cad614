import type { KvKeyPart } from "@keywright/core";
import type { RowId } from "@keywright/orm";

/** The maximum length of a text, in UTF-16 code units. Longer texts are truncated. */
const maxTextLength = 200;

/**
 * Formats a key part, an id or several parts on one line: strings in quotes, bigints as `1n`, bytes
 * as `b64:…`, lists in brackets. Escapes control characters, so that stored data cannot send
 * commands to the terminal.
 */
export function shownId(id: RowId): string {
  return isList(id) ? `[${id.map(formatPart).join(", ")}]` : formatPart(id);
}

/** Formats key parts like {@link shownId}, but a single part without brackets. */
export function shownKeyValue(parts: readonly KvKeyPart[]): string {
  const [first, ...rest] = parts;
  return first !== undefined && rest.length === 0 ? formatPart(first) : shownId(parts);
}

/** Formats a sentence that may contain stored data on one line. */
export function shownText(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll(/\p{Cc}/gu, "�");
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength)}…` : line;
}

function isList(id: RowId): id is readonly KvKeyPart[] {
  return Array.isArray(id);
}

function formatPart(part: KvKeyPart): string {
  if (typeof part === "string") return escapeControls(JSON.stringify(part));
  if (part instanceof Uint8Array) return `b64:${Buffer.from(part).toString("base64")}`;
  if (typeof part === "bigint") return `${part}n`;
  return Object.is(part, -0) ? "-0" : String(part);
}

/** Escapes DEL and the C1 control characters, which JSON leaves unescaped. */
function escapeControls(json: string): string {
  return json.replaceAll(
    /\p{Cc}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
