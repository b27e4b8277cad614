// Control characters, formatting characters such as those that change the direction of the text,
// halves of characters, and separators of lines and paragraphs.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

export interface TextPart {
  readonly text: string;
  /** True if the part stands for a character that cannot be seen. */
  readonly isEscape: boolean;
}

/** Splits a text into what can be seen and the escapes of what cannot. */
export function textParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(invisible)) {
    if (index > end) parts.push({ text: text.slice(end, index), isEscape: false });
    parts.push({ text: escapeOf(character), isEscape: true });
    end = index + character.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isEscape: false });
  return parts;
}

/** Replaces all characters that cannot be seen, for titles and labels. */
export function visibleText(text: string): string {
  return text.replace(invisible, escapeOf);
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return shortEscapes[character] ?? (code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`);
}
