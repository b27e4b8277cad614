import { fieldSpan } from "../../derived/text/format/postings.js";
import type { QueryTerm } from "../../text/parsed-query.js";
import { weightOfEdited } from "../../text/score.js";
import type { TextSource, WordPostings } from "./sources/text-source.js";
import { rangeOf } from "./wanted-words.js";

/** The documents of a source that have a term. */
export interface TermMatches {
  /** In no particular order. */
  readonly docs: Int32Array;
  /** How often each has the term: an occurrence counts as often as the weight of its field. */
  readonly occurrences: Float64Array;
}

/** Returns the documents of a source that have a term, without those that are gone. */
export function matchesOf(
  source: TextSource,
  term: QueryTerm,
  weights: readonly number[],
): TermMatches {
  const ofField = weights.map((weight, field) =>
    term.fields === undefined || term.fields.includes(field) ? weight : 0,
  );
  const variants = variantsOf(source, term);
  const [only, ...others] = variants;
  if (only?.words.length === 1 && only.weight === 1 && others.length === 0) {
    const { docs, counts } = only.words[0]!;
    return compacted(docs, occurrencesOf(docs, counts, ofField), source.gone);
  }
  const sums = new Float64Array(source.docs);
  const docs: number[] = [];
  const add = (doc: number, occurrences: number) => {
    if (occurrences === 0) return;
    if (sums[doc] === 0) docs.push(doc);
    sums[doc]! += occurrences;
  };
  for (const { words, weight } of variants) {
    if (words.length === 1) {
      const [{ docs: ofWord, counts }] = words as [WordPostings];
      const occurrences = occurrencesOf(ofWord, counts, ofField);
      for (let i = 0; i < ofWord.length; i++) add(ofWord[i]!, weight * occurrences[i]!);
    } else addPhrases(words, term.offsets, ofField, add);
  }
  const found = Int32Array.from(docs);
  return compacted(
    found,
    Float64Array.from(found, (doc) => sums[doc]!),
    source.gone,
  );
}

/** Words that together are a term, and how much an occurrence of them counts. */
interface Variant {
  readonly words: readonly WordPostings[];
  readonly weight: number;
}

function variantsOf(source: TextSource, term: QueryTerm): readonly Variant[] {
  const { words, isPrefix } = term;
  const range = rangeOf(term);
  const others = (range && source.ranges.get(range.name)) ?? [];
  const last = words.length - 1;
  const known = words
    .slice(0, isPrefix ? last : words.length)
    .map((word) => source.words.get(word));
  const isComplete = known.every((postings) => postings !== undefined);
  if (isPrefix) {
    if (!isComplete) return [];
    return others.map((word) => ({ words: [...known, source.words.get(word)!], weight: 1 }));
  }
  const own = isComplete ? [{ words: known, weight: 1 }] : [];
  const edited = others.map((word) => ({
    words: [source.words.get(word)!],
    weight: weightOfEdited,
  }));
  return [...own, ...edited];
}

function occurrencesOf(
  docs: Int32Array,
  counts: Int32Array,
  weights: readonly number[],
): Float64Array {
  const { length: fields } = weights;
  const occurrences = new Float64Array(docs.length);
  for (let i = 0; i < docs.length; i++) {
    let sum = 0;
    for (let field = 0; field < fields; field++) {
      const count = counts[i * fields + field]!;
      if (count > 0) sum += count * weights[field]!;
    }
    occurrences[i] = sum;
  }
  return occurrences;
}

/** Leaves out documents without an occurrence, and those that are gone. */
function compacted(
  docs: Int32Array,
  occurrences: Float64Array,
  gone: Uint8Array | undefined,
): TermMatches {
  const counts = (i: number) => occurrences[i]! > 0 && gone?.[docs[i]!] !== 1;
  let size = 0;
  for (let i = 0; i < docs.length; i++) if (counts(i)) size++;
  if (size === docs.length) return { docs, occurrences };
  const kept = { docs: new Int32Array(size), occurrences: new Float64Array(size) };
  let next = 0;
  for (let i = 0; i < docs.length; i++) {
    if (!counts(i)) continue;
    kept.docs[next] = docs[i]!;
    kept.occurrences[next++] = occurrences[i]!;
  }
  return kept;
}

/** Adds the phrases of each document that has all words. */
function addPhrases(
  words: readonly WordPostings[],
  offsets: readonly number[],
  weights: readonly number[],
  add: (doc: number, occurrences: number) => void,
): void {
  const at = words.map(() => 0);
  const [first] = words as [WordPostings];
  for (let i = 0; i < first.docs.length; i++) {
    const doc = first.docs[i]!;
    at[0] = i;
    let hasAll = true;
    for (let w = 1; w < words.length && hasAll; w++) {
      const { docs } = words[w]!;
      let next = at[w]!;
      while (next < docs.length && docs[next]! < doc) next++;
      at[w] = next;
      if (next === docs.length) return;
      hasAll = docs[next] === doc;
    }
    if (hasAll) add(doc, phrasesIn(words, offsets, weights, at));
  }
}

function phrasesIn(
  words: readonly WordPostings[],
  offsets: readonly number[],
  weights: readonly number[],
  at: readonly number[],
): number {
  const [first] = words as [WordPostings];
  let sum = 0;
  const next = words.map(({ starts }, w) => starts![at[w]!]!);
  const end = first.starts![at[0]! + 1]!;
  for (let p = next[0]!; p < end; p++) {
    const place = first.places![p]!;
    let isPhrase = true;
    for (let w = 1; w < words.length && isPhrase; w++) {
      const { places, starts } = words[w]!;
      const last = starts![at[w]! + 1]!;
      let position = next[w]!;
      while (position < last && places![position]! < place + offsets[w]!) position++;
      next[w] = position;
      isPhrase = position < last && places![position] === place + offsets[w]!;
    }
    // A field ends long before the places of the next one begin.
    if (isPhrase) sum += weights[Math.floor(place / fieldSpan)]!;
  }
  return sum;
}
