/** A part of a query's text: something to look for, or the operator `OR`. */
export type QueryPart =
  | { readonly type: "or"; readonly start: number; readonly end: number }
  | WrittenTerm;

/** Words, a phrase or a prefix as they are written. */
export interface WrittenTerm {
  readonly type: "term";
  readonly start: number;
  readonly end: number;
  readonly isExcluded: boolean;
  readonly isPhrase: boolean;
  readonly isPrefix: boolean;
  /** The name before the colon. Undefined if there is none. */
  readonly field: string | undefined;
  /** Where its words are, without operators. */
  readonly words: { readonly start: number; readonly end: number };
}

/** The parts of a query's text, and the quotation marks without a partner. */
export interface ReadQuery {
  readonly parts: readonly QueryPart[];
  readonly loneQuotes: readonly number[];
}

const space = /\s*/uy;
const fieldName = /([\p{L}_$][\p{L}\p{M}\p{N}_$]*):(?=\S)/uy;
const bare = /[^\s"“”„]+/uy;
const quote = /["“”„]/u;

/**
 * Splits the text of a query into its parts. Takes any text.
 *
 * @param isField tells the names of fields from other words with a colon.
 */
export function readQuery(text: string, isField: (name: string) => boolean): ReadQuery {
  const parts: QueryPart[] = [];
  const loneQuotes: number[] = [];
  let at = endOf(space, text, 0);
  while (at < text.length) {
    const start = at;
    const isExcluded = text[at] === "-" && /\S/u.test(text[at + 1] ?? "");
    if (isExcluded) at++;
    fieldName.lastIndex = at;
    const name = fieldName.exec(text)?.[1];
    const field = name !== undefined && isField(name) ? name : undefined;
    if (field !== undefined) at += field.length + 1;
    const options = { type: "term", start, isExcluded, field } as const;
    const length = quote.test(text[at]!) ? text.slice(at + 1).search(quote) : undefined;
    const isLone = length === -1;
    if (isLone) loneQuotes.push(at++);
    if (length !== undefined && !isLone) {
      const words = { start: at + 1, end: at + 1 + length };
      at = words.end + 1;
      const hasStar = text[at] === "*";
      if (hasStar) at++;
      const isPrefix = hasStar || text[words.end - 1] === "*";
      parts.push({ ...options, end: at, isPhrase: true, isPrefix, words });
    } else {
      const words = { start: at, end: endOf(bare, text, at) };
      at = words.end;
      if (at === words.start) {
        at = endOf(space, text, at);
        continue;
      }
      if (text.slice(start, at) === "OR") parts.push({ type: "or", start, end: at });
      else {
        const isPrefix = text[at - 1] === "*";
        parts.push({ ...options, end: at, isPhrase: false, isPrefix, words });
      }
    }
    at = endOf(space, text, at);
  }
  return { parts, loneQuotes };
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}
