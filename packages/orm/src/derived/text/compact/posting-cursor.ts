import { ByteReader, TextBytesError } from "../format/byte-reader.js";
import type { EncodedPlaces } from "../format/encoded-places.js";
import { skipCounts, skipPlaces } from "../format/postings.js";
import type { WordBlockReader, WordBlocks } from "../format/segment-blocks.js";

const nothing = new ByteReader(new Uint8Array());

/** The documents of a segment that have a word, one after another, as a merge numbers them. */
export class PostingCursor implements EncodedPlaces {
  readonly #parts: readonly WordBlockReader[];
  readonly #numbers: Int32Array;
  readonly #fields: number;
  #part = 0;
  /** How many documents of the part follow. */
  #left = 0;
  #doc = 0;
  #docs = nothing;
  #counts = nothing;
  #places = nothing;
  /** The new number of the current document. */
  number = -1;
  countsStart = 0;
  countsEnd = 0;
  placesStart = 0;
  placesEnd = 0;

  /**
   * @param parts the postings of the word, which follow one another.
   * @param numbers the new number of each document. -1 for one that is left out.
   */
  constructor(parts: readonly WordBlockReader[], numbers: Int32Array, fields: number) {
    this.#parts = parts;
    this.#numbers = numbers;
    this.#fields = fields;
  }

  get bytes(): Uint8Array {
    return this.#places.bytes;
  }

  /**
   * Moves to the next document that is not left out. Returns false at the end.
   *
   * @throws {TextBytesError} if the postings are damaged.
   */
  next(): boolean {
    for (;;) {
      while (this.#left === 0) {
        const part = this.#parts[this.#part++];
        if (part === undefined) return false;
        this.#left = part.size;
        this.#doc = 0;
        this.#docs = new ByteReader(part.bytes, part.docsStart);
        this.#counts = new ByteReader(part.bytes, part.countsStart);
        this.#places = new ByteReader(part.bytes, part.placesStart);
      }
      this.#left--;
      this.#doc += this.#docs.varint();
      this.countsStart = this.#counts.at;
      const sum = skipCounts(this.#counts, this.#fields);
      this.countsEnd = this.#counts.at;
      this.placesStart = this.#places.at;
      skipPlaces(this.#places, sum);
      this.placesEnd = this.#places.at;
      const number = this.#numbers[this.#doc];
      if (number === undefined) throw new TextBytesError();
      if (number < 0) continue;
      this.number = number;
      return true;
    }
  }
}

/** Writes the postings that a word has in several segments, by the new numbers of the documents. */
export function mergeWord(
  blocks: WordBlocks,
  word: Uint8Array,
  cursors: readonly PostingCursor[],
): void {
  const open = cursors.filter((cursor) => cursor.next());
  if (open.length === 0) return;
  blocks.begin(word);
  while (open.length > 0) {
    let first = 0;
    for (let i = 1; i < open.length; i++) if (open[i]!.number < open[first]!.number) first = i;
    const cursor = open[first]!;
    let limit = Number.POSITIVE_INFINITY;
    for (let i = 0; i < open.length; i++)
      if (i !== first && open[i]!.number < limit) limit = open[i]!.number;
    // Segments often have keys that follow one another, so many documents come from the same one.
    let isOpen = true;
    do {
      blocks.add(cursor.number, cursor);
      isOpen = cursor.next();
    } while (isOpen && cursor.number < limit);
    if (!isOpen) open.splice(first, 1);
  }
  blocks.end();
}
