import { ByteReader, textOf } from "./byte-reader.js";
import { ByteWriter } from "./byte-writer.js";
import { comparePart, compareWords, partStartsWith } from "./compare-bytes.js";
import {
  readCounts,
  readPlaces,
  skipCounts,
  skipPlaces,
  writeCounts,
  writePlaces,
} from "./postings.js";

/** The words of one row, as its commit stores them. */
export interface TextDocument {
  /** How many words it has, in all fields together. */
  readonly length: number;
  /** When the row expires, in milliseconds since 1970. 0 if it does not. */
  readonly expireAt: number;
  /** Word → its places, in ascending order. */
  readonly words: ReadonlyMap<string, readonly number[]>;
}

/** The version of the format. A later version that cannot read it gives it another number. */
const format = 1;

/** Encodes a document. Its words are in the order of their bytes. */
export function encodeDocument(document: TextDocument, fields: number): Uint8Array {
  const writer = new ByteWriter(64 + 12 * document.words.size);
  writer.byte(format);
  writer.varint(document.length);
  writer.varint(document.expireAt);
  writer.varint(document.words.size);
  for (const word of [...document.words.keys()].sort(compareWords)) {
    const all = document.words.get(word)!;
    const places = { all, from: 0, to: all.length };
    writer.text(word);
    writeCounts(writer, fields, places);
    writePlaces(writer, places);
  }
  return writer.finish();
}

/** Reads the words of an encoded document one after another, without decoding more than needed. */
export class DocumentReader {
  readonly length: number;
  readonly expireAt: number;
  readonly #reader: ByteReader;
  readonly #fields: number;
  #left: number;
  /** The current word is `bytes[wordStart, wordEnd)`, and its counts follow. */
  wordStart = 0;
  wordEnd = 0;
  #sum = 0;

  /** @throws {TextBytesError} if it is damaged. */
  constructor(bytes: Uint8Array, fields: number) {
    const reader = new ByteReader(bytes, 1);
    this.#reader = reader;
    this.#fields = fields;
    this.length = reader.varint();
    this.expireAt = reader.varint();
    this.#left = reader.varint();
  }

  /** Moves to the next word. Returns false at the end. */
  next(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    const reader = this.#reader;
    const length = reader.varint();
    this.wordStart = reader.at;
    this.wordEnd = this.wordStart + length;
    reader.at = this.wordEnd;
    this.#sum = skipCounts(reader, this.#fields);
    return true;
  }

  /** Compares the current word with another one, in the order of bytes. */
  compare(word: Uint8Array): number {
    return comparePart(this.#reader.bytes, this.wordStart, this.wordEnd, word);
  }

  startsWith(start: Uint8Array): boolean {
    return partStartsWith(this.#reader.bytes, this.wordStart, this.wordEnd, start);
  }

  get text(): string {
    return textOf(this.bytes.subarray(this.wordStart, this.wordEnd));
  }

  get bytes(): Uint8Array {
    return this.#reader.bytes;
  }

  /** Where the next part begins: the places of the word after `next`, a word after `skip`. */
  get at(): number {
    return this.#reader.at;
  }

  /** Returns how often the current word is in each field. */
  counts(): Int32Array {
    const counts = new Int32Array(this.#fields);
    readCounts(new ByteReader(this.bytes, this.wordEnd), this.#fields, counts, 0);
    return counts;
  }

  /** Returns the places of the current word. Either this or `skip` follows each `next`. */
  places(): Int32Array {
    const places = new Int32Array(this.#sum);
    readPlaces(this.#reader, this.#fields, this.counts(), 0, places, 0);
    return places;
  }

  skip(): void {
    skipPlaces(this.#reader, this.#sum);
  }
}
