import type { KvEntry, KvEntryMaybe, KvKey } from "@keywright/core";
import { PostingsBuilder, WordBlockReader } from "../../../derived/text/format/segment-blocks.js";
import { decodeKeyBlock, type KeyBlock, keyAt } from "../../../derived/text/format/segment-docs.js";
import { bytesIn, damageOf } from "../../../derived/text/stored-bytes.js";
import {
  docsKey,
  firstKeysKey,
  type TextGroup,
  wordsPrefix,
} from "../../../derived/text/text-keys.js";
import type { Segment } from "../../../derived/text/text-state.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { readStored } from "../../../state/rows/read-rows.js";
import type { WantedRange } from "../wanted-words.js";
import { type KnownSegment, rememberKeys } from "./segment-memory.js";
import { maxWordsOfRange, type WordPostings } from "./text-source.js";

const encoder = new TextEncoder();

/** Reads parts of a segment. */
export class SegmentReader {
  readonly #view: ReadView;
  readonly #meter: ReadMeter;
  readonly #group: TextGroup;
  readonly #segment: Segment;
  readonly #known: KnownSegment | undefined;
  readonly #prefix: KvKey;
  readonly #fields: number;

  /** @param known what is known of the segment. */
  constructor(
    view: ReadView,
    meter: ReadMeter,
    group: TextGroup,
    segment: Segment,
    known: KnownSegment | undefined,
  ) {
    this.#known = known;
    this.#view = view;
    this.#meter = meter;
    this.#group = group;
    this.#segment = segment;
    this.#prefix = wordsPrefix(group, segment.id);
    this.#fields = group.index.text!.fields.length;
  }

  async postingsOf(word: string, needsPlaces: boolean): Promise<WordPostings | undefined> {
    const block = await this.#blockOf(word);
    if (block === undefined) return undefined;
    const bytes = encoder.encode(word);
    const builder = new PostingsBuilder();
    const isLast = this.#find(block, bytes, builder);
    if (isLast) {
      // Longer postings are continued in blocks of their own.
      const prefix = [...this.#prefix, word];
      for await (const entry of this.#list({ prefix, start: [...prefix, 1] }))
        this.#find(entry, bytes, builder);
    }
    return this.#postings(builder, needsPlaces);
  }

  /** Returns the postings of a word in the blocks that can have them. */
  postingsIn(
    blocks: readonly KvEntryMaybe<unknown>[],
    word: string,
    needsPlaces: boolean,
  ): WordPostings | undefined {
    const bytes = encoder.encode(word);
    const builder = new PostingsBuilder();
    for (const entry of blocks) this.#find(entry, bytes, builder);
    return this.#postings(builder, needsPlaces);
  }

  #postings(builder: PostingsBuilder, needsPlaces: boolean): WordPostings | undefined {
    if (builder.size === 0) return undefined;
    return needsPlaces ? builder.placed(this.#fields) : builder.counted(this.#fields);
  }

  /**
   * Adds the postings of the words of a range, and returns these words.
   *
   * @param blocks those that can have them. Undefined if they are to be read.
   */
  async readRange(
    { start, accepts, needsPlaces }: WantedRange,
    words: Map<string, WordPostings>,
    blocks?: readonly KvEntryMaybe<unknown>[],
  ): Promise<string[]> {
    const found: string[] = [];
    const first = encoder.encode(start);
    let current: { readonly text: string; readonly builder: PostingsBuilder } | undefined;
    const finish = () => {
      if (current === undefined) return;
      const { text, builder } = current;
      found.push(text);
      const before = words.get(text);
      if (before?.places === undefined)
        words.set(text, needsPlaces ? builder.placed(this.#fields) : builder.counted(this.#fields));
      current = undefined;
    };
    for await (const entry of blocks ?? this.#blocksFrom(start)) {
      const reader = new WordBlockReader(bytesIn(this.#view.model, entry));
      let isAfter = false;
      while (reader.next()) {
        if (!reader.startsWith(first)) {
          isAfter = reader.compare(first) > 0;
          if (isAfter) break;
          continue;
        }
        const { text } = reader;
        if (current?.text !== text) {
          finish();
          if (!accepts(text)) continue;
          if (found.length === maxWordsOfRange) return found;
          current = { text, builder: new PostingsBuilder() };
        }
        // The postings are decoded later, and the reader moves on.
        current.builder.add(reader.stay());
      }
      if (isAfter) break;
    }
    finish();
    return found;
  }

  /**
   * Returns the keys of documents, in their order. Blocks that are remembered count as read.
   *
   * @throws {SystemEntryError} if a block is damaged.
   */
  async keysOf(docs: readonly number[]): Promise<readonly Uint8Array[]> {
    try {
      return await this.#keysOf(docs);
    } catch (error) {
      const { id } = this.#segment;
      throw damageOf(error, this.#view.model, firstKeysKey(this.#group, id));
    }
  }

  async #keysOf(docs: readonly number[]): Promise<readonly Uint8Array[]> {
    const { docsPerBlock } = this.#segment;
    const wanted = new Set(docs.map((doc) => Math.floor(doc / docsPerBlock)));
    this.#meter.add(wanted.size);
    const known = this.#known?.keyBlocks;
    const missing = [...wanted].filter((block) => known?.has(block) !== true);
    const read = new Map(missing.length === 0 ? [] : await this.#readKeys(missing));
    return docs.map((doc) => {
      const block = Math.floor(doc / docsPerBlock);
      return keyAt((read.get(block) ?? known?.get(block))!, doc % docsPerBlock);
    });
  }

  async #readKeys(blocks: readonly number[]): Promise<[number, KeyBlock][]> {
    const stored = await readStored(
      this.#view,
      blocks.map((block) => docsKey(this.#group, this.#segment.id, block)),
    );
    return blocks.map((block, i) => {
      const keys = decodeKeyBlock(bytesIn(this.#view.model, stored[i]!));
      if (this.#known !== undefined)
        rememberKeys(this.#view, this.#group, this.#segment, this.#known, block, keys);
      return [block, keys];
    });
  }

  /** Adds the postings of a word in a block. Returns true if they may continue in the next one. */
  #find(entry: KvEntryMaybe<unknown>, word: Uint8Array, builder: PostingsBuilder): boolean {
    const reader = new WordBlockReader(bytesIn(this.#view.model, entry));
    while (reader.next()) {
      const order = reader.compare(word);
      if (order > 0) return false;
      if (order < 0) continue;
      builder.add(reader);
      return reader.isLast;
    }
    // The word would be after the last one, so no block has it.
    return false;
  }

  /** Returns the block that has the beginning of a word's postings, if there are any. */
  async #blockOf(word: string): Promise<KvEntry<unknown> | undefined> {
    const prefix = this.#prefix;
    const selector = { prefix, end: [...prefix, word, 0.5] };
    for await (const entry of this.#list(selector, { limit: 1, reverse: true })) return entry;
    return undefined;
  }

  async *#blocksFrom(word: string): AsyncGenerator<KvEntry<unknown>> {
    const prefix = this.#prefix;
    const first = await this.#blockOf(word);
    if (first !== undefined) yield first;
    const start = [...prefix, word, 1];
    for await (const entry of this.#list({ prefix, start })) yield entry;
  }

  async *#list(
    selector: Parameters<ReadView["kv"]["list"]>[0],
    options: Parameters<ReadView["kv"]["list"]>[1] = { batchSize: 8 },
  ): AsyncGenerator<KvEntry<unknown>> {
    for await (const entry of this.#view.kv.list(selector, options)) {
      this.#meter.add(1);
      yield entry;
    }
  }
}
