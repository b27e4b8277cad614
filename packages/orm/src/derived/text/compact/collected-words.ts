import type { DocumentReader } from "../format/document.js";
import type { WordBlocks } from "../format/segment-blocks.js";
import { WordNumbers } from "../format/word-numbers.js";

/** The words of fresh documents, each with the documents that have it. */
export class CollectedWords {
  readonly #words = new WordNumbers();
  readonly #readers: DocumentReader[] = [];
  // Of each word of each document: the numbers of both, and where its counts and places are.
  readonly #wordOf: number[] = [];
  readonly #docOf: number[] = [];
  readonly #counts: number[] = [];
  readonly #places: number[] = [];
  readonly #ends: number[] = [];

  /** Adds the words of a document, which gets the next number. */
  add(reader: DocumentReader): void {
    const doc = this.#readers.push(reader) - 1;
    while (reader.next()) {
      this.#wordOf.push(this.#words.numberOf(reader.bytes, reader.wordStart, reader.wordEnd));
      this.#docOf.push(doc);
      this.#counts.push(reader.wordEnd);
      this.#places.push(reader.at);
      reader.skip();
      this.#ends.push(reader.at);
    }
  }

  /** Writes all words in their order, each with its documents in the order of their numbers. */
  writeTo(blocks: WordBlocks): void {
    const { starts, order } = this.#byWord();
    for (const word of this.#words.sorted()) {
      blocks.begin(this.#words.wordOf(word));
      for (let i = starts[word]!; i < starts[word + 1]!; i++) {
        const at = order[i]!;
        const doc = this.#docOf[at]!;
        const placesStart = this.#places[at]!;
        blocks.add(doc, {
          bytes: this.#readers[doc]!.bytes,
          countsStart: this.#counts[at]!,
          countsEnd: placesStart,
          placesStart,
          placesEnd: this.#ends[at]!,
        });
      }
      blocks.end();
    }
  }

  /** Sorts by the numbers of words. The documents of a word stay in their order. */
  #byWord(): { readonly starts: Int32Array; readonly order: Int32Array } {
    const wordOf = this.#wordOf;
    const starts = new Int32Array(this.#words.size + 1);
    for (const word of wordOf) starts[word + 1]!++;
    for (let word = 1; word < starts.length; word++) starts[word]! += starts[word - 1]!;
    const next = starts.slice();
    const order = new Int32Array(wordOf.length);
    for (let at = 0; at < wordOf.length; at++) order[next[wordOf[at]!]!++] = at;
    return { starts, order };
  }
}
