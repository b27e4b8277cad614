import type { KvKeyPart } from "@keywright/core";
import type { RowId } from "@keywright/orm";

/** Texts are cut behind so many characters. */
const longestText = 200;

/**
 * A part of a key, an id or several parts, on one line: texts in quotes, bigints as `1n`, bytes as `b64:…`, lists in brackets.
 * Control characters are escaped, so that stored data cannot reach the terminal's own language.
 */
export function shownId(id: RowId): string {
  return isList(id) ? `[${id.map(shownPart).join(", ")}]` : shownPart(id);
}

/** The parts of a key as {@link shownId} shows them, and one alone without brackets. */
export function shownKeyValue(parts: readonly KvKeyPart[]): string {
  const [first, ...rest] = parts;
  return first !== undefined && rest.length === 0 ? shownPart(first) : shownId(parts);
}

/** A sentence that may hold stored data, on one line. */
export function shownText(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll(/\p{Cc}/gu, "�");
  return line.length > longestText ? `${line.slice(0, longestText)}…` : line;
}

function isList(id: RowId): id is readonly KvKeyPart[] {
  return Array.isArray(id);
}

function shownPart(part: KvKeyPart): string {
  if (typeof part === "string") return escaped(JSON.stringify(part));
  if (part instanceof Uint8Array) return `b64:${Buffer.from(part).toString("base64")}`;
  if (typeof part === "bigint") return `${part}n`;
  return Object.is(part, -0) ? "-0" : String(part);
}

/** JSON leaves DEL and the C1 controls as they are. */
function escaped(json: string): string {
  return json.replaceAll(
    /\p{Cc}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
