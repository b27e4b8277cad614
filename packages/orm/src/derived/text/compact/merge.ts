import type { AtomicOperation, KvKey } from "@keywright/core";
import { currentTime } from "../../../model/rows/time.js";
import { capabilitiesOf } from "../../../state/catalog/capabilities-of.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { textOf } from "../format/byte-reader.js";
import { compareBytes } from "../format/compare-bytes.js";
import { docsPerBlockOf } from "../format/segment-docs.js";
import {
  readDocKeys,
  readGone,
  readLengths,
  type SegmentLengths,
  SegmentWords,
} from "../segment-source.js";
import { mergeKey, stateKey, type TextGroup, wordsPrefix } from "../text-keys.js";
import { type Segment, type TextState, textState } from "../text-state.js";
import { type MergeProgress, mergeProgress } from "./merge-progress.js";
import { joinedDocs, type MergedSource, numbersIn } from "./merged-docs.js";
import { type NewEntry, NewSegment } from "./new-segment.js";
import { mergeWord, PostingCursor } from "./posting-cursor.js";
import { replaceSegments } from "./replace-segments.js";

/** Entries of about this many bytes are committed together. */
const commitBytes = 524_288;
/** The entries of one commit, at most. */
const commitEntries = 200;

type DocsOfSource = Omit<MergedSource, "gone">;

const noLengths: SegmentLengths = { lengths: new Int32Array(), expireAt: undefined };

/** Returns true when a step of a long task has taken its time. */
export type IsOver = () => boolean;

/** `"lost"` if others have changed one of the segments, or continue the merge themselves. */
type Step = "more" | "merged" | "lost";

/**
 * Merges segments of a group into one, without the documents that are gone, in steps. The entries
 * of the new segment are written first, in any number of commits, each of which stores how far the
 * merge is. One commit then replaces the segments by it. Until then searches read the old ones. If
 * the process dies, another one continues.
 */
export class Merge {
  readonly #group: TextGroup;
  readonly #id: number;
  #progress: MergeProgress;
  #versionstamp: string;
  #segments: readonly Segment[] = [];
  #numbers: readonly Int32Array[] = [];
  #sources: DocsOfSource[] = [];
  #words: readonly SegmentWords[] | undefined;
  #new: NewSegment;

  private constructor(
    group: TextGroup,
    id: number,
    progress: MergeProgress,
    versionstamp: string,
    segments: readonly Segment[],
  ) {
    this.#group = group;
    this.#id = id;
    this.#progress = progress;
    this.#versionstamp = versionstamp;
    this.#segments = segments;
    this.#new = new NewSegment(group, id, { docs: progress.docs ?? 0, bytes: progress.bytes });
  }

  /** Begins a merge. Returns undefined if the segments have changed. */
  static async begin(
    { kv, model, catalog }: ModelStore,
    group: TextGroup,
    ids: readonly number[],
  ): Promise<Merge | undefined> {
    const stored = await kv.get(stateKey(group));
    const state = textState(model, stored);
    const segments = segmentsOf(state, ids);
    if (segments === undefined) return undefined;
    const { next: id } = state;
    const at = currentTime();
    const begun: TextState = {
      ...state,
      next: id + 1,
      unfinished: [...state.unfinished, { id, since: at }],
    };
    const progress: MergeProgress = { segments: ids, at, docs: null, word: "", bytes: 0 };
    const result = await kv
      .atomic()
      .check(catalog.snapshot.check, stored)
      .set(stored.key, begun)
      .set(mergeKey(group, id), progress)
      .commit();
    if (!result.ok) return undefined;
    return new Merge(group, id, progress, result.versionstamp, segments);
  }

  /**
   * Continues a merge that nobody has continued for some time.
   *
   * @param lease the time in milliseconds.
   * @returns `"lost"` if it cannot be continued, `"busy"` if another program does.
   */
  static async resume(
    { kv, model, catalog }: ModelStore,
    group: TextGroup,
    state: TextState,
    id: number,
    lease: number,
  ): Promise<Merge | "busy" | "lost"> {
    const stored = await kv.get(mergeKey(group, id));
    const before = mergeProgress(model, stored);
    const segments = before === null ? undefined : segmentsOf(state, before.segments);
    if (before === null || segments === undefined) return "lost";
    const at = currentTime();
    if (at < before.at + lease) return "busy";
    // A merge that has no documents yet has no word, so nothing is lost.
    if (before.docs === null) return "lost";
    const progress: MergeProgress = { ...before, at };
    const { check } = catalog.snapshot;
    const result = await kv.atomic().check(check, stored).set(stored.key, progress).commit();
    if (!result.ok) return "busy";
    return new Merge(group, id, progress, result.versionstamp, segments);
  }

  /** Continues the merge until it has taken its time. The next call may be at any later time. */
  async step(store: ModelStore, isOver: IsOver): Promise<Step> {
    if (this.#words === undefined) {
      while (this.#sources.length < this.#segments.length) {
        this.#sources.push(await this.#readDocs(store, this.#segments[this.#sources.length]!));
        if (isOver()) return "more";
      }
      if (!(await this.#open(store))) return "lost";
      if (isOver()) return "more";
    }
    const words = this.#words!;
    const { length: fields } = this.#group.index.text!.fields;
    let last = this.#progress.word;
    for (;;) {
      const word = firstWord(words);
      if (word === undefined) break;
      const cursors: PostingCursor[] = [];
      for (const [i, source] of words.entries()) {
        if (source.word === undefined || compareBytes(source.word, word) !== 0) continue;
        const parts = source.take();
        const read = parts instanceof Promise ? await parts : parts;
        cursors.push(new PostingCursor(read, this.#numbers[i]!, fields));
      }
      last = textOf(word);
      mergeWord(this.#new.words, word, cursors);
      const isEnd = isOver();
      if (!isEnd && this.#new.size < commitBytes) continue;
      if (!(await this.#save(store, last))) return "lost";
      if (isEnd) return "more";
    }
    if (!(await this.#save(store, last))) return "lost";
    const sources = { segments: this.#segments, numbers: this.#numbers };
    const isReplaced = await replaceSegments(store, this.#group, sources, this.#new.segment);
    return isReplaced ? "merged" : "lost";
  }

  /** Writes the documents of the new segment, or reads them, and moves to the next words. */
  async #open(store: ModelStore): Promise<boolean> {
    const group = this.#group;
    const { docs, word } = this.#progress;
    const sources = this.#sources;
    if (docs === null) {
      const gone = await readGone(store, group);
      const withGone = sources.map((each) => ({ ...each, gone: gone.get(each.id) ?? [] }));
      const merged = joinedDocs(withGone, currentTime());
      this.#numbers = merged.numbers;
      this.#new.addDocs(merged.docs);
      if (!(await this.#save(store, word))) return false;
    } else {
      const written = { id: this.#id, docs, docsPerBlock: docsPerBlockOf(docs) };
      this.#numbers = numbersIn(await readDocKeys(store, group, written), sources);
      if (!(await this.#clearAfter(store, word))) return false;
    }
    // The blocks of all segments are in memory together.
    const blocks = Math.max(1, Math.floor(512 / this.#segments.length));
    const batchSize = Math.min(16, blocks, store.limits.batchSize);
    const words = this.#segments.map(({ id }) => new SegmentWords(store, group, id, batchSize));
    for (const source of words) await source.begin(word);
    this.#words = words;
    this.#sources = [];
    return true;
  }

  /** Reads the keys of a segment's documents, and their lengths unless they are written. */
  async #readDocs(store: ModelStore, segment: Segment): Promise<DocsOfSource> {
    const keys = await readDocKeys(store, this.#group, segment);
    const { lengths, expireAt } =
      this.#progress.docs === null ? await readLengths(store, this.#group, segment) : noLengths;
    return { id: segment.id, keys, lengths, expireAt };
  }

  /** Removes what was written after the last word, when the process died between two commits. */
  async #clearAfter(store: ModelStore, word: string): Promise<boolean> {
    const { limits, kv } = store;
    const prefix = wordsPrefix(this.#group, this.#id);
    const selector = word === "" ? { prefix } : { prefix, start: [...prefix, word, true] };
    const limit = Math.max(1, Math.min(commitEntries, limits.mutations - 1, limits.batchSize));
    for (;;) {
      const keys: KvKey[] = [];
      for await (const { key } of kv.list(selector, { limit, batchSize: limit })) keys.push(key);
      if (keys.length === 0) return true;
      const isCommitted = await this.#commit(store, this.#progress, (operation) => {
        for (const key of keys) operation.delete(key);
      });
      if (!isCommitted) return false;
    }
  }

  /** Writes all words up to one. */
  async #save(store: ModelStore, word: string): Promise<boolean> {
    this.#new.words.finish();
    const { docs, bytes } = this.#new.segment;
    const entries = this.#new.take();
    const { totalMutationBytes } = capabilitiesOf(store.kv).limits;
    const maxBytes = Math.min(commitBytes, totalMutationBytes / 2);
    const maxEntries = Math.max(1, Math.min(commitEntries, store.limits.mutations - 1));
    let from = 0;
    do {
      const to = endOfCommit(entries, from, maxBytes, maxEntries);
      const isLast = to === entries.length;
      const progress = isLast ? { ...this.#progress, docs, word, bytes } : this.#progress;
      const part = entries.slice(from, to);
      const isCommitted = await this.#commit(store, progress, (operation) => {
        for (const { key, value } of part) operation.set(key, value);
      });
      if (!isCommitted) return false;
      from = to;
    } while (from < entries.length);
    return true;
  }

  async #commit(
    { kv, catalog }: ModelStore,
    progress: MergeProgress,
    addTo: (operation: AtomicOperation) => void,
  ): Promise<boolean> {
    const key = mergeKey(this.#group, this.#id);
    const check = { key, versionstamp: this.#versionstamp };
    const next: MergeProgress = { ...progress, at: currentTime() };
    const operation = kv.atomic().check(catalog.snapshot.check, check).set(key, next);
    addTo(operation);
    const result = await operation.commit();
    if (!result.ok) return false;
    this.#versionstamp = result.versionstamp;
    this.#progress = next;
    return true;
  }
}

/** Returns the segments with some numbers. Undefined if one of them is no longer there. */
function segmentsOf(
  { segments }: TextState,
  ids: readonly number[],
): readonly Segment[] | undefined {
  const found = segments.filter(({ id }) => ids.includes(id));
  return found.length === ids.length ? found : undefined;
}

function endOfCommit(
  entries: readonly NewEntry[],
  from: number,
  maxBytes: number,
  maxEntries: number,
): number {
  let bytes = 0;
  let to = from;
  for (; to < entries.length && to - from < maxEntries && bytes < maxBytes; to++)
    bytes += entries[to]!.value.length;
  return to;
}

/** Returns the first word in the order of bytes at which a source is. Undefined at the end. */
function firstWord(sources: readonly SegmentWords[]): Uint8Array | undefined {
  let first: Uint8Array | undefined;
  for (const { word } of sources) {
    if (word === undefined) continue;
    if (first === undefined || compareBytes(word, first) < 0) first = word;
  }
  return first;
}
