import type { Analyzer, Token } from "./analyzer.js";
import { cutWords } from "./cut-words.js";
import { foldIn, withoutMarks } from "./fold.js";
import { type Stemmer, stemmerOf } from "./languages.js";

/**
 * Returns the words of a text as an index stores them, without stop words. Pure.
 *
 * @throws {Error} if the stemmer of the language is not loaded. See `loadStemmer`.
 */
export function analyze(text: string, analyzer: Analyzer): readonly Token[] {
  const wordOf = wordsBy(analyzer);
  const tokens: Token[] = [];
  let position = 0;
  for (const { start, end } of cutWords(text)) {
    const word = wordOf(text.slice(start, end));
    if (word !== undefined) tokens.push({ word, position, start, end });
    position++;
  }
  return tokens;
}

type WordOf = (written: string) => string | undefined;

const known = new WeakMap<Analyzer, WordOf>();

/** Returns a function from a word of a text to the word that the index has. */
function wordsBy(analyzer: Analyzer): WordOf {
  let wordOf = known.get(analyzer);
  if (wordOf === undefined) {
    wordOf = withMemory(analyzer);
    known.set(analyzer, wordOf);
  }
  return wordOf;
}

/** How many words are remembered. A text of a million words has about 50,000 different ones. */
const maxRemembered = 50_000;

/**
 * Most words are the same few thousand, and to fold and to stem one takes longer than to find it.
 */
function withMemory(analyzer: Analyzer): WordOf {
  const stem = analyzer.language === undefined ? undefined : stemmerOf(analyzer.language);
  const stopWords = new Set(analyzer.stopWords);
  let words = new Map<string, string | undefined>();
  return (written) => {
    const remembered = words.get(written);
    if (remembered !== undefined || words.has(written)) return remembered;
    // A part of a string keeps the whole string in memory, but a copy does not.
    const copy = structuredClone(written);
    const folded = foldIn(analyzer.language, copy);
    const word = stopWords.has(folded) ? undefined : indexedWord(folded, analyzer, stem);
    if (copy.length > maxLength) return word;
    if (words.size >= maxRemembered) words = new Map();
    words.set(copy, word);
    return word;
  };
}

/**
 * Longer words are no words of a language, and have no stem. Some stemmers take a time that grows
 * with the square of the length: minutes for a word of a megabyte.
 */
const maxStemmed = 256;

function indexedWord(folded: string, { foldsMarks }: Analyzer, stem: Stemmer | undefined): string {
  const hasStem = stem !== undefined && folded.length <= maxStemmed;
  const stemmed = hasStem ? stem(folded) || folded : folded;
  return cutToLimit((foldsMarks ? withoutMarks(stemmed) : stemmed) || folded);
}

/** Returns how the beginning of a word is stored in an index, except that it has no stem. */
export function analyzePrefix(prefix: string, { language, foldsMarks }: Analyzer): string {
  const folded = foldIn(language, prefix);
  return cutToLimit((foldsMarks ? withoutMarks(folded) : folded) || folded);
}

/** How many UTF-16 code units of a word are stored, so that it fits into a key. */
const maxLength = 64;

function cutToLimit(word: string): string {
  if (word.length <= maxLength) return word;
  const last = word.charCodeAt(maxLength - 1);
  const splitsPair = last >= 0xd800 && last < 0xdc00;
  return word.slice(0, splitsPair ? maxLength - 1 : maxLength);
}

/** How far the words of two elements of an array are apart, so that no phrase spans both. */
const elementGap = 100;

/**
 * Returns the words of a field's value, a string or an array of strings. Their `start` and `end`
 * are those in their own string. A field that is absent has none.
 */
export function analyzeValue(value: unknown, analyzer: Analyzer): readonly Token[] {
  if (typeof value === "string") return analyze(value, analyzer);
  if (!Array.isArray(value)) return [];
  const tokens: Token[] = [];
  let first = 0;
  for (const element of value) {
    if (typeof element !== "string") continue;
    for (const token of analyze(element, analyzer)) {
      const position = first + token.position;
      tokens.push({ ...token, position });
    }
    first = (tokens.at(-1)?.position ?? first) + elementGap;
  }
  return tokens;
}
