import { analyze, analyzePrefix } from "./analyze.js";
import type { Analyzer } from "./analyzer.js";
import { cutWords } from "./cut-words.js";
import { minLettersForEdit } from "./edits.js";
import { fold } from "./fold.js";
import type { IgnoredPart, IgnoredReason, ParsedQuery, QueryTerm } from "./parsed-query.js";
import { readQuery, type WrittenTerm } from "./read-query.js";
import type { TextIndexDefinition } from "./text-definition.js";

/** How the text of a query is read. */
export interface ParseOptions {
  /** True if words of five letters or more also match words that differ by one edit. */
  readonly typos?: boolean;
}

const maxCharacters = 10_000;
const maxWords = 64;

/**
 * Reads what a person has typed: words, all of which must occur; `"a phrase"`; prefixes such as
 * `ca*`; `-excluded` words; `this OR that`; and `title:word` for a single field. Every text is a
 * query: what has no effect is in `ignored`.
 *
 * @throws {Error} if the stemmer of the language is not loaded. See `loadStemmer`.
 */
export function parseQuery(
  text: string,
  definition: Pick<TextIndexDefinition, "fields" | "analyzer">,
  { typos = false }: ParseOptions = {},
): ParsedQuery {
  const fieldNames = definition.fields.map(({ field }) => field);
  const ignored: IgnoredPart[] = [];
  const ignore = (reason: IgnoredReason, start: number, end: number) => {
    ignored.push({ text: text.slice(start, end), start, end, reason });
  };
  const read = text.slice(0, maxCharacters);
  if (text.length > maxCharacters) ignore("tooLong", maxCharacters, text.length);
  const { parts, loneQuotes } = readQuery(read, (name) => fieldNames.includes(name));
  for (const at of loneQuotes) ignore("quote", at, at + 1);

  const all: QueryTerm[][] = [];
  const none: QueryTerm[] = [];
  const excluded: WrittenTerm[] = [];
  let words = 0;
  let or: { readonly start: number; readonly end: number } | undefined;
  let canTakeOr = false;
  const ignoreOr = () => {
    if (or !== undefined) ignore("operator", or.start, or.end);
    or = undefined;
  };
  for (const part of parts) {
    if (part.type === "or") {
      ignoreOr();
      if (canTakeOr) or = part;
      else ignore("operator", part.start, part.end);
      continue;
    }
    const term = termOf(read, part, definition.analyzer, fieldNames, typos, ignore);
    const isTooLong = term !== undefined && words + term.words.length > maxWords;
    if (isTooLong) ignore("tooLong", part.start, part.end);
    if (term === undefined || isTooLong) {
      canTakeOr &&= or !== undefined;
      ignoreOr();
      continue;
    }
    words += term.words.length;
    if (part.isExcluded) {
      ignoreOr();
      none.push(term);
      excluded.push(part);
    } else if (or === undefined) all.push([term]);
    else all.at(-1)!.push(term);
    or = undefined;
    canTakeOr = !part.isExcluded;
  }
  ignoreOr();
  if (all.length === 0) for (const { start, end } of excluded) ignore("onlyExclusions", start, end);
  return { all, none, ignored: ignored.sort((x, y) => x.start - y.start) };
}

function termOf(
  text: string,
  part: WrittenTerm,
  analyzer: Analyzer,
  fieldNames: readonly string[],
  typos: boolean,
  ignore: (reason: IgnoredReason, start: number, end: number) => void,
): QueryTerm | undefined {
  const written = text.slice(part.words.start, part.words.end).replace(/\*+$/u, "");
  const name = part.isPhrase ? undefined : /^[\p{L}_$][\p{L}\p{M}\p{N}_$]*:(?=\S)/u.exec(written);
  if (name) ignore("unknownField", part.words.start, part.words.start + name[0].length);
  const cut = [...cutWords(written)];
  if (cut.length === 0) {
    ignore("noWord", part.start, part.end);
    return undefined;
  }
  const tokens = [...analyze(written, analyzer)];
  const last = cut.at(-1)!;
  const isPrefix = part.isPrefix && last.end === written.length;
  if (isPrefix) {
    const word = analyzePrefix(written.slice(last.start, last.end), analyzer);
    if (tokens.at(-1)?.position === cut.length - 1) tokens.pop();
    tokens.push({ word, position: cut.length - 1, ...last });
  }
  for (const [position, { start, end }] of cut.entries()) {
    if (tokens.some((token) => token.position === position)) continue;
    ignore("stopWord", part.words.start + start, part.words.start + end);
  }
  if (tokens.length === 0) return undefined;
  const typed = fold(written.slice(last.start, last.end));
  return {
    words: tokens.map(({ word }) => word),
    offsets: tokens.map(({ position }) => position - tokens[0]!.position),
    isPrefix,
    allowsEdit:
      typos &&
      !isPrefix &&
      !part.isPhrase &&
      !part.isExcluded &&
      cut.length === 1 &&
      [...typed].length >= minLettersForEdit &&
      !/\p{N}/u.test(typed),
    fields: part.field === undefined ? undefined : [fieldNames.indexOf(part.field)],
  };
}
