import type { KvKeyPart } from "@keywright/core";
import type { RowId } from "@keywright/orm";
import { formatKey, formatKeyPart } from "../../../inspect/entries/format-key.js";

/** The maximum length of a text, in UTF-16 code units. Longer texts are truncated. */
const maxTextLength = 200;

/** Formats an id: a key part, or several parts in brackets. */
export function shownId(id: RowId): string {
  return isList(id) ? formatKey(id) : formatKeyPart(id);
}

/** Formats key parts like {@link shownId}, but a single part without brackets. */
export function shownKeyValue(parts: readonly KvKeyPart[]): string {
  const [first, ...rest] = parts;
  return first !== undefined && rest.length === 0 ? formatKeyPart(first) : formatKey(parts);
}

/** Formats a sentence that may contain stored data on one line. */
export function shownText(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll(/\p{Cc}/gu, "�");
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength)}…` : line;
}

function isList(id: RowId): id is readonly KvKeyPart[] {
  return Array.isArray(id);
}
