import type { KvKey } from "@keywright/core";
import { WordBlocks } from "../format/segment-blocks.js";
import {
  docsPerBlockOf,
  docsPerLengths,
  encodeKeys,
  encodeLengths,
} from "../format/segment-docs.js";
import { docsKey, firstKeysKey, lengthsKey, type TextGroup, wordsPrefix } from "../text-keys.js";
import type { Segment } from "../text-state.js";

/** An entry that is to be written. */
export interface NewEntry {
  readonly key: KvKey;
  readonly value: Uint8Array;
}

/** The documents of a segment, in the order of their keys. */
export interface SegmentDocs {
  readonly keys: readonly Uint8Array[];
  readonly lengths: Int32Array;
  /** 0 for a document that does not expire. */
  readonly expireAt: Float64Array;
}

/** Encodes a segment. Its entries are collected until they are taken. */
export class NewSegment {
  /** The words, which are added in their order, after the documents. */
  readonly words: WordBlocks;
  readonly #group: TextGroup;
  readonly #id: number;
  #entries: NewEntry[] = [];
  #bytes: number;
  #size = 0;
  #docs: number;

  /** @param written what is written of the segment, if a merge is resumed. */
  constructor(group: TextGroup, id: number, written = { docs: 0, bytes: 0 }) {
    this.#docs = written.docs;
    this.#bytes = written.bytes;
    this.#group = group;
    this.#id = id;
    const prefix = wordsPrefix(group, id);
    this.words = new WordBlocks(({ word, firstDoc, bytes }) => {
      this.#bytes += bytes.length;
      this.#add([...prefix, word, firstDoc], bytes);
    });
  }

  /** How many bytes the entries have that were not taken yet. */
  get size(): number {
    return this.#size;
  }

  addDocs({ keys, lengths, expireAt }: SegmentDocs): void {
    const docsPerBlock = docsPerBlockOf(keys.length);
    this.#docs = keys.length;
    const firstKeys: Uint8Array[] = [];
    for (let from = 0; from < keys.length; from += docsPerBlock) {
      firstKeys.push(keys[from]!);
      const block = encodeKeys(keys.slice(from, from + docsPerBlock));
      this.#add(docsKey(this.#group, this.#id, from / docsPerBlock), block);
    }
    this.#add(firstKeysKey(this.#group, this.#id), encodeKeys(firstKeys));
    for (let from = 0; from < keys.length; from += docsPerLengths) {
      const to = from + docsPerLengths;
      const block = { lengths: lengths.subarray(from, to), expireAt: expireAt.subarray(from, to) };
      this.#add(lengthsKey(this.#group, this.#id, from / docsPerLengths), encodeLengths(block));
    }
  }

  /** Returns the entries that were not taken yet. */
  take(): readonly NewEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    this.#size = 0;
    return entries;
  }

  /** The segment, with all that was added before it was finished. */
  get segment(): Segment {
    const docsPerBlock = docsPerBlockOf(this.#docs);
    return { id: this.#id, docs: this.#docs, gone: 0, docsPerBlock, bytes: this.#bytes };
  }

  #add(key: KvKey, value: Uint8Array): void {
    this.#entries.push({ key, value });
    this.#size += value.length;
  }
}
