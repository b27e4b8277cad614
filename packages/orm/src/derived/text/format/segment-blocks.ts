import { ByteReader, textOf } from "./byte-reader.js";
import { ByteWriter } from "./byte-writer.js";
import { comparePart, partStartsWith } from "./compare-bytes.js";
import type { EncodedPlaces } from "./encoded-places.js";
import type { Postings } from "./postings.js";
import { readCounts, readPlaces } from "./postings.js";

/**
 * A block of the words of a segment. It begins with a word, whose postings may have begun in the
 * block before it.
 */
export interface WordBlock {
  readonly word: string;
  /** The first document that it has of the word. 0 if it has the beginning of its postings. */
  readonly firstDoc: number;
  readonly bytes: Uint8Array;
}

/** A block ends after a word when it has at least this many bytes. */
const blockBytes = 12_288;
/** Postings with more bytes are continued in a block of their own. */
const chunkBytes = 24_576;
/** The documents of one part of postings, at most. */
const maxChunkDocs = 16_384;

/** Encodes the words of a segment, which come in the order of their bytes. */
export class WordBlocks {
  readonly #onBlock: (block: WordBlock) => void;
  readonly #block = new ByteWriter(2 * chunkBytes);
  readonly #docs = new ByteWriter(chunkBytes);
  readonly #counts = new ByteWriter(chunkBytes);
  readonly #places = new ByteWriter(chunkBytes);
  #word: Uint8Array = new Uint8Array();
  /** How many documents the part of the postings has that is being written. */
  #size = 0;
  #lastDoc = 0;
  #isContinued = false;
  #first: { readonly word: string; readonly firstDoc: number } | undefined;

  constructor(onBlock: (block: WordBlock) => void) {
    this.#onBlock = onBlock;
  }

  /** Begins a word, whose bytes must stay until its end. At least one document follows. */
  begin(word: Uint8Array): void {
    this.#word = word;
    this.#isContinued = false;
  }

  /** Adds a document that has the word, after those with lower numbers. */
  add(doc: number, places: EncodedPlaces): void {
    const bytes = this.#docs.length + this.#counts.length + this.#places.length;
    if (this.#size === maxChunkDocs || bytes >= chunkBytes) {
      this.end();
      this.finish();
      this.#isContinued = true;
    }
    if (this.#size++ === 0)
      this.#first ??= { word: textOf(this.#word), firstDoc: this.#isContinued ? doc : 0 };
    this.#docs.varint(doc - this.#lastDoc);
    this.#lastDoc = doc;
    this.#counts.copy(places.bytes, places.countsStart, places.countsEnd);
    this.#places.copy(places.bytes, places.placesStart, places.placesEnd);
  }

  /** Ends a word. */
  end(): void {
    const block = this.#block;
    block.varint(this.#word.length);
    block.bytes(this.#word);
    block.varint(this.#size);
    const parts = [this.#docs, this.#counts, this.#places];
    for (const { length } of parts) block.varint(length);
    for (const part of parts) {
      block.bytes(part.view);
      part.clear();
    }
    this.#size = 0;
    this.#lastDoc = 0;
    if (block.length >= blockBytes) this.finish();
  }

  /** Ends the last block. More words may follow, in another one. */
  finish(): void {
    if (this.#first === undefined) return;
    this.#onBlock({ ...this.#first, bytes: this.#block.finish() });
    this.#block.clear();
    this.#first = undefined;
  }
}

/** Reads the words of a block, one after another. */
export class WordBlockReader {
  readonly #reader: ByteReader;
  #wordStart = 0;
  #wordEnd = 0;
  /** How many documents its postings have in this block. */
  size = 0;
  #docs = 0;
  #counts = 0;
  #places = 0;
  #start = 0;

  constructor(bytes: Uint8Array) {
    this.#reader = new ByteReader(bytes);
  }

  /** The block, in which the parts of the postings are. */
  get bytes(): Uint8Array {
    return this.#reader.bytes;
  }

  get docsStart(): number {
    return this.#start;
  }

  get countsStart(): number {
    return this.#start + this.#docs;
  }

  get placesStart(): number {
    return this.#start + this.#docs + this.#counts;
  }

  /** Moves to the next word. Returns false at the end. */
  next(): boolean {
    const reader = this.#reader;
    reader.at = this.placesStart + this.#places;
    if (reader.isAtEnd) return false;
    const length = reader.varint();
    this.#wordStart = reader.at;
    this.#wordEnd = this.#wordStart + length;
    reader.at = this.#wordEnd;
    this.size = reader.varint();
    this.#docs = reader.varint();
    this.#counts = reader.varint();
    this.#places = reader.varint();
    this.#start = reader.at;
    return true;
  }

  /** The bytes of the current word. */
  get word(): Uint8Array {
    return this.#reader.bytes.subarray(this.#wordStart, this.#wordEnd);
  }

  get text(): string {
    return textOf(this.word);
  }

  /** Compares the current word with another one, in the order of bytes. */
  compare(word: Uint8Array): number {
    return comparePart(this.#reader.bytes, this.#wordStart, this.#wordEnd, word);
  }

  startsWith(start: Uint8Array): boolean {
    return partStartsWith(this.#reader.bytes, this.#wordStart, this.#wordEnd, start);
  }

  /** True if no word follows. */
  get isLast(): boolean {
    return this.placesStart + this.#places >= this.#reader.end;
  }

  /** Returns a reader of the same block that stays at the current word. */
  stay(): WordBlockReader {
    const copy = new WordBlockReader(this.#reader.bytes);
    copy.#wordStart = this.#wordStart;
    copy.#wordEnd = this.#wordEnd;
    copy.size = this.size;
    copy.#docs = this.#docs;
    copy.#counts = this.#counts;
    copy.#places = this.#places;
    copy.#start = this.#start;
    return copy;
  }

  /** Copies the documents of the current word to an array, from `at` on. */
  readDocs(docs: Int32Array, at: number): void {
    const { bytes } = this.#reader;
    let next = this.#start;
    let doc = 0;
    const end = at + this.size;
    for (let i = at; i < end; i++) {
      let byte = bytes[next++]!;
      if (byte >= 0x80) {
        let delta = byte & 0x7f;
        let shift = 7;
        do {
          byte = bytes[next++]!;
          delta |= (byte & 0x7f) << shift;
          shift += 7;
        } while (byte >= 0x80);
        doc += delta;
      } else doc += byte;
      docs[i] = doc;
    }
  }

  /** Copies the counts of the current word to an array, which has zeros from `at * fields` on. */
  readCounts(fields: number, counts: Int32Array, at: number): void {
    const reader = this.#reader;
    reader.at = this.countsStart;
    const end = at + this.size;
    for (let i = at; i < end; i++) readCounts(reader, fields, counts, i * fields);
  }

  /**
   * Copies the places of the current word to an array.
   *
   * @param counts those of {@link readCounts}, from `at` on.
   * @param starts gets the first place of each document, and the one after the last.
   * @returns the index after the last place.
   */
  readPlaces(
    fields: number,
    counts: Int32Array,
    at: number,
    { starts, places, next }: { starts: Int32Array; places: Int32Array; next: number },
  ): number {
    const reader = this.#reader;
    reader.at = this.placesStart;
    const end = at + this.size;
    let index = next;
    for (let i = at; i < end; i++) {
      starts[i] = index;
      index = readPlaces(reader, fields, counts, i * fields, places, index);
    }
    starts[end] = index;
    return index;
  }
}

/** Parts of the postings of a word, which follow one another. */
export class PostingsBuilder {
  readonly #readers: WordBlockReader[] = [];
  size = 0;

  /** Adds the postings of the current word of a reader, which must stay there. */
  add(reader: WordBlockReader): void {
    this.#readers.push(reader);
    this.size += reader.size;
  }

  counted(fields: number): { docs: Int32Array; counts: Int32Array } {
    const docs = new Int32Array(this.size);
    const counts = new Int32Array(this.size * fields);
    let at = 0;
    for (const reader of this.#readers) {
      reader.readDocs(docs, at);
      reader.readCounts(fields, counts, at);
      at += reader.size;
    }
    return { docs, counts };
  }

  /** Returns the postings with places, and with their counts. */
  placed(fields: number): Postings & { readonly counts: Int32Array } {
    const { docs, counts } = this.counted(fields);
    let sum = 0;
    for (const count of counts) sum += count;
    const places = new Int32Array(sum);
    const starts = new Int32Array(this.size + 1);
    let at = 0;
    let next = 0;
    for (const reader of this.#readers) {
      next = reader.readPlaces(fields, counts, at, { starts, places, next });
      at += reader.size;
    }
    starts[this.size] = next;
    return { docs, starts, places, counts };
  }
}
