import type { KvKey, KvListIterator, MaybePromise } from "@keywright/core";
import type { KvReads } from "../../state/catalog/capabilities-of.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { ReadView } from "../../state/context/read-view.js";
import { readStored } from "../../state/rows/read-rows.js";
import { compareBytes } from "./format/compare-bytes.js";
import { WordBlockReader } from "./format/segment-blocks.js";
import { decodeKeys, decodeLengths, decodeNumbers, docsPerLengths } from "./format/segment-docs.js";
import { bytesIn } from "./stored-bytes.js";
import {
  docsKey,
  lengthsKey,
  markedDoc,
  sectionPrefix,
  type TextGroup,
  wordsPrefix,
} from "./text-keys.js";
import type { Segment } from "./text-state.js";

type Reads = Pick<ReadView, "kv" | "model" | "limits">;

/** The lengths of all documents of a segment, and when they expire. */
export interface SegmentLengths {
  readonly lengths: Int32Array;
  /** Undefined if none expires. 0 for a document that does not. */
  readonly expireAt: Float64Array | undefined;
}

export async function readLengths(
  reads: Reads,
  group: TextGroup,
  { id, docs }: Segment,
): Promise<SegmentLengths> {
  const blocks = Math.ceil(docs / docsPerLengths);
  const stored = await readStored(
    reads,
    Array.from({ length: blocks }, (_, block) => lengthsKey(group, id, block)),
  );
  const lengths = new Int32Array(docs);
  let expireAt: Float64Array | undefined;
  for (const [i, entry] of stored.entries()) {
    const times = decodeLengths(bytesIn(reads.model, entry), lengths, i * docsPerLengths);
    if (times === undefined) continue;
    expireAt ??= new Float64Array(docs);
    expireAt.set(times, i * docsPerLengths);
  }
  return { lengths, expireAt };
}

/** Returns the keys of all documents of a segment. */
export async function readDocKeys(
  reads: Reads,
  group: TextGroup,
  { id, docs, docsPerBlock }: Pick<Segment, "id" | "docs" | "docsPerBlock">,
): Promise<Uint8Array[]> {
  const blocks = Math.ceil(docs / docsPerBlock);
  const stored = await readStored(
    reads,
    Array.from({ length: blocks }, (_, block) => docsKey(group, id, block)),
  );
  return stored.flatMap((entry) => decodeKeys(bytesIn(reads.model, entry)));
}

/** The documents of each segment that count no longer, in any order. */
export type GoneDocs = ReadonlyMap<number, readonly number[]>;

/** Reads the lists and the marks of documents that count no longer. */
export async function readGone(
  reads: Reads,
  group: TextGroup,
  onEntry?: () => void,
): Promise<GoneDocs> {
  const gone = new Map<number, number[]>();
  const prefix = sectionPrefix(group, "gone");
  for await (const entry of reads.kv.list({ prefix })) {
    onEntry?.();
    addGone(reads.model, group, entry, gone);
  }
  return gone;
}

/** Returns the documents of lists and marks that were read. */
export function goneDocsIn(
  model: ModelStore["model"],
  group: TextGroup,
  entries: readonly StoredGone[],
): GoneDocs {
  const gone = new Map<number, number[]>();
  for (const entry of entries) addGone(model, group, entry, gone);
  return gone;
}

interface StoredGone {
  readonly key: KvKey;
  readonly value: unknown;
}

function addGone(
  model: ModelStore["model"],
  group: TextGroup,
  entry: StoredGone,
  gone: Map<number, number[]>,
): void {
  const segment = entry.key[2 + group.values.length] as number;
  const doc = markedDoc(group, entry.key);
  const docs = gone.get(segment) ?? [];
  gone.set(segment, docs);
  if (doc !== undefined) docs.push(doc);
  else for (const number of decodeNumbers(bytesIn(model, entry))) docs.push(number);
}

/** All words of a segment, one after another. */
export class SegmentWords {
  readonly #kv: KvReads;
  readonly #prefix: KvKey;
  readonly #batchSize: number;
  #list: KvListIterator<unknown> | undefined;
  readonly #model: ModelStore["model"];
  #block: WordBlockReader | undefined;
  /** The current word. Undefined after the last one. */
  word: Uint8Array | undefined;

  constructor(
    { kv, model }: { readonly kv: KvReads; readonly model: ModelStore["model"] },
    group: TextGroup,
    segment: number,
    batchSize: number,
  ) {
    this.#model = model;
    this.#kv = kv;
    this.#prefix = wordsPrefix(group, segment);
    this.#batchSize = batchSize;
  }

  /** Moves to the first word, or to the first one after a word. */
  async begin(after = ""): Promise<void> {
    const kv = this.#kv;
    const prefix = this.#prefix;
    // The last block that begins at the word or before it. No part sorts after `true`.
    let start: KvKey = prefix;
    if (after !== "") {
      const last = { prefix, end: [...prefix, after, true] };
      for await (const { key } of kv.list(last, { limit: 1, reverse: true })) start = key;
    }
    const selector = start === prefix ? { prefix } : { prefix, start };
    this.#list = kv.list(selector, { batchSize: this.#batchSize });
    await this.#nextBlock();
    const bytes = new TextEncoder().encode(after);
    while (this.word !== undefined && compareBytes(this.word, bytes) <= 0) await this.take();
  }

  /**
   * Returns the parts of the postings of the current word, which follow one another, and moves to
   * the next word. Returns a promise only if it has to read.
   */
  take(): MaybePromise<WordBlockReader[]> {
    const block = this.#block!;
    const parts = [block.stay()];
    // Only the last word of a block continues in the next one.
    if (!block.next()) return this.#takeRest(parts);
    this.word = block.word;
    return parts;
  }

  async #takeRest(parts: WordBlockReader[]): Promise<WordBlockReader[]> {
    const word = this.word!;
    do {
      await this.#nextBlock();
      if (this.word === undefined || compareBytes(this.word, word) !== 0) break;
      parts.push(this.#block!.stay());
    } while (!this.#block!.next());
    if (this.word !== undefined) this.word = this.#block!.word;
    return parts;
  }

  /** Moves to the first word of the next block. */
  async #nextBlock(): Promise<void> {
    do {
      const { done, value } = await this.#list!.next();
      this.#block = done ? undefined : new WordBlockReader(bytesIn(this.#model, value));
    } while (this.#block?.next() === false);
    this.word = this.#block?.word;
  }
}
