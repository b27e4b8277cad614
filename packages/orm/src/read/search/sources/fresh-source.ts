import { compareBytes, compareWords } from "../../../derived/text/format/compare-bytes.js";
import { DocumentReader } from "../../../derived/text/format/document.js";
import type { TextGroup } from "../../../derived/text/text-keys.js";
import type { WantedWords } from "../wanted-words.js";
import type { FreshDocument } from "./changes-memory.js";
import { firstAfter, maxWordsOfRange, type TextSource, type WordPostings } from "./text-source.js";

const encoder = new TextEncoder();

interface WordOfDocs {
  readonly docs: number[];
  readonly counts: number[];
  readonly starts: number[];
  readonly places: number[];
}

/** Collects what a query needs of fresh documents, which it reads one after another. */
export function freshSource(
  { index }: TextGroup,
  fresh: readonly FreshDocument[],
  wanted: WantedWords,
): TextSource {
  const { length: fields } = index.text!.fields;
  const documents = fresh.map(({ key, bytes }) => ({
    key,
    reader: new DocumentReader(bytes, fields),
  }));
  const exact = [...wanted.exact]
    .map(([word, needsPlaces]) => ({ word, bytes: encoder.encode(word), needsPlaces }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes));
  const ranges = wanted.ranges.map((range) => ({
    ...range,
    bytes: encoder.encode(range.start),
    words: new Set<string>(),
  }));
  const found = new Map<string, WordOfDocs>();
  const lengths = new Int32Array(documents.length);
  const now = Date.now();
  // A database may return expired entries until it has the time to remove them.
  const isGone = documents.map(({ reader: { expireAt } }) => expireAt > 0 && expireAt <= now);
  const times = documents.map(({ reader: { expireAt } }) => expireAt);
  for (const [doc, { reader }] of documents.entries()) {
    lengths[doc] = reader.length;
    let next = 0;
    while (reader.next()) {
      let order = 1;
      while (next < exact.length) {
        order = reader.compare(exact[next]!.bytes);
        if (order <= 0) break;
        next++;
      }
      const isExact = next < exact.length && order === 0;
      if (next === exact.length && ranges.length === 0) break;
      let needsPlaces = isExact && exact[next]!.needsPlaces;
      let text = isExact ? exact[next]!.word : undefined;
      for (const range of ranges) {
        if (!reader.startsWith(range.bytes)) continue;
        const whole = reader.text;
        if (!range.accepts(whole)) continue;
        if (!range.words.has(whole) && range.words.size >= maxWordsOfRange) continue;
        range.words.add(whole);
        text = whole;
        needsPlaces ||= range.needsPlaces;
      }
      if (text === undefined) {
        reader.skip();
        continue;
      }
      let ofWord = found.get(text);
      if (ofWord === undefined) {
        ofWord = { docs: [], counts: [], starts: [], places: [] };
        found.set(text, ofWord);
      }
      ofWord.docs.push(doc);
      for (const count of reader.counts()) ofWord.counts.push(count);
      ofWord.starts.push(ofWord.places.length);
      if (needsPlaces) for (const place of reader.places()) ofWord.places.push(place);
      else reader.skip();
    }
  }
  const words = new Map<string, WordPostings>();
  for (const [word, { docs, counts, starts, places }] of found) {
    starts.push(places.length);
    words.set(word, {
      docs: Int32Array.from(docs),
      counts: Int32Array.from(counts),
      starts: Int32Array.from(starts),
      places: Int32Array.from(places),
    });
  }
  return {
    segment: undefined,
    docs: documents.length,
    lengths,
    totals: undefined,
    gone: isGone.includes(true) ? Uint8Array.from(isGone, Number) : undefined,
    expireAt: firstAfter(now, times),
    words,
    ranges: new Map(
      ranges.map(({ name, words: ofRange }) => [name, [...ofRange].sort(compareWords)]),
    ),
    keysOf: async (docs) => docs.map((doc) => documents[doc]!.key),
  };
}
