/** A part of a text, in UTF-16 code units. The end is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** How the found words of a text are shown. */
export interface SnippetOptions {
  /** About how many UTF-16 code units of the text are shown. The default is 200. */
  readonly length?: number;
  /** The text before each found word. The default is `<mark>`. */
  readonly before?: string;
  /** The text after each found word. The default is `</mark>`. */
  readonly after?: string;
  /** False for plain text. By default, `<`, `>`, `&` and quotes of the text become entities. */
  readonly escape?: boolean;
}

/**
 * Returns the part of a text that has the most found words, with marks around them.
 *
 * ```ts
 * snippet(row.body, highlights.body); // '… the <mark>quick</mark> <mark>fox</mark> jumps …'
 * ```
 *
 * @param ranges where the found words are, in ascending order, as `search` returns them. Without
 * them, it is the beginning of the text.
 */
export function snippet(
  text: string,
  ranges: readonly TextRange[] = [],
  {
    length = 200,
    before = "<mark>",
    after = "</mark>",
    escape: isEscaped = true,
  }: SnippetOptions = {},
): string {
  const { start, end } = bestPart(text, ranges, length);
  const shown = isEscaped ? escaped : (part: string) => part;
  let result = start > 0 ? "… " : "";
  let at = start;
  for (const range of ranges) {
    if (range.start < at || range.end > end) continue;
    result += shown(text.slice(at, range.start));
    result += before + shown(text.slice(range.start, range.end)) + after;
    at = range.end;
  }
  result += shown(text.slice(at, end));
  return end < text.length ? `${result} …` : result;
}

/** Returns the part that begins shortly before a found word and has the most of them. */
function bestPart(text: string, ranges: readonly TextRange[], length: number): TextRange {
  if (text.length <= length) return { start: 0, end: text.length };
  let best = { first: 0, last: -1 };
  for (let first = 0, last = -1; first < ranges.length; first++) {
    const limit = ranges[first]!.start + length;
    while (last + 1 < ranges.length && ranges[last + 1]!.end <= limit) last++;
    if (last - first > best.last - best.first) best = { first, last };
  }
  const found = ranges.slice(best.first, best.last + 1);
  const from = found[0]?.start ?? 0;
  const to = found.at(-1)?.end ?? 0;
  const rest = Math.max(0, length - (to - from));
  const start = wordStart(text, Math.max(0, Math.min(from - rest / 2, text.length - length)), from);
  return { start, end: Math.max(to, wordEnd(text, Math.min(text.length, start + length))) };
}

/** Returns the first position after white space from a position on, or `latest`. */
function wordStart(text: string, from: number, latest: number): number {
  const start = Math.floor(from);
  if (start === 0) return 0;
  const next = text.slice(start - 1, Math.min(latest, start + maxWordLength)).search(/\s/u);
  if (next >= 0) return start + next;
  return wholeCharacters(text, start);
}

/** Returns the last position before white space up to a position. */
function wordEnd(text: string, to: number): number {
  if (to === text.length) return to;
  for (let end = to; end > to - maxWordLength && end > 0; end--)
    if (/\s/u.test(text[end]!)) return end;
  return wholeCharacters(text, to);
}

/** A longer word is cut, as one is without white space, in Chinese for example. */
const maxWordLength = 40;

function wholeCharacters(text: string, to: number): number {
  const code = text.charCodeAt(to - 1);
  return code >= 0xd800 && code < 0xdc00 ? to - 1 : to;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}
