import { compareWords } from "../../../derived/text/format/compare-bytes.js";
import type { KeyBlock } from "../../../derived/text/format/segment-docs.js";
import type { SegmentLengths } from "../../../derived/text/segment-source.js";
import {
  groupPrefix,
  lengthsKey,
  type TextGroup,
  wordsPrefix,
} from "../../../derived/text/text-keys.js";
import type { Segment } from "../../../derived/text/text-state.js";
import { keyText } from "../../../model/keys/key-text.js";
import type { ReadView } from "../../../state/context/read-view.js";

/**
 * What does not change of a segment. It is read once, so that a search finds blocks by their keys.
 */
export interface KnownSegment {
  /** That of its first lengths. Another segment with the same number has another one. */
  readonly versionstamp: string;
  readonly lengths: SegmentLengths;
  /** How many words its documents have. */
  readonly words: number;
  /** The words with which its blocks begin, in the order of their keys. */
  readonly firstWords: readonly string[];
  /** The documents with which its blocks begin. See `WordBlock`. */
  readonly firstDocs: Int32Array;
  /** The keys of its documents that were read, by their block. */
  readonly keyBlocks: Map<number, KeyBlock>;
  /** About how many bytes it takes. */
  bytes: number;
  /** The versionstamp of the list of segments with which it was last found to be the same. */
  comparedAt: string;
}

/** The memory of one database has about this many bytes at most. */
const maxBytes = 33_554_432;
/** The blocks of larger segments are found by a read. Their keys would take too long to list. */
const maxSegmentBytes = 67_108_864;

/** The segments of a database that searches have read, the last one at the end. */
class SegmentMemory {
  readonly #known = new Map<string, KnownSegment>();
  /** Segments that one search has read. A program that searches once lists no keys. */
  readonly #seen = new Set<string>();
  #bytes = 0;

  get(name: string): KnownSegment | undefined {
    const known = this.#known.get(name);
    if (known === undefined) return undefined;
    this.#known.delete(name);
    this.#known.set(name, known);
    return known;
  }

  set(name: string, known: KnownSegment): void {
    this.delete(name);
    this.#known.set(name, known);
    this.#bytes += known.bytes;
    this.#shrink();
  }

  addKeys(name: string, known: KnownSegment, block: number, keys: KeyBlock): void {
    // It may have been forgotten while the keys were read.
    if (this.#known.get(name) !== known || known.keyBlocks.has(block)) return;
    known.keyBlocks.set(block, keys);
    const bytes = 200 + keys.bytes.length + 4 * keys.starts.length;
    known.bytes += bytes;
    this.#bytes += bytes;
    this.#shrink();
  }

  delete(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    this.#bytes -= known.bytes;
  }

  #shrink(): void {
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= maxBytes) return;
      this.delete(oldest);
    }
  }

  /** Returns true if it was called before with the same segment. */
  wasSeen(name: string): boolean {
    if (this.#seen.has(name)) return true;
    if (this.#seen.size >= 10_000) this.#seen.clear();
    this.#seen.add(name);
    return false;
  }
}

const memories = new WeakMap<object, SegmentMemory>();

function memoryOf(database: object): SegmentMemory {
  const memory = memories.get(database) ?? new SegmentMemory();
  memories.set(database, memory);
  return memory;
}

function nameOf(group: TextGroup, { id }: Segment): string {
  return keyText([...groupPrefix(group), id]);
}

/**
 * Returns what is known of a segment. If the list of segments has another versionstamp than
 * `comparedAt`, the versionstamp of the segment must be compared. Lists the keys of the segment's
 * blocks if it was searched before and all reads see one state.
 *
 * @param listedAt the versionstamp of the list of segments.
 * @param readLengths reads its lengths.
 */
export async function knownSegment(
  view: ReadView,
  group: TextGroup,
  segment: Segment,
  listedAt: string,
  readLengths: () => Promise<SegmentLengths>,
): Promise<KnownSegment | undefined> {
  const memory = memoryOf(view.store.kv);
  const name = nameOf(group, segment);
  const known = memory.get(name);
  if (known !== undefined) return known;
  const { docs, bytes } = segment;
  if (docs === 0 || bytes > maxSegmentBytes || !view.isOneState) return undefined;
  if (view.kv.pages === undefined || !memory.wasSeen(name)) return undefined;
  const lengths = await readLengths();
  const { versionstamp } = await view.kv.get(lengthsKey(group, segment.id, 0));
  const prefix = wordsPrefix(group, segment.id);
  const options = { limit: bytes + 1, reverse: false, withValues: false };
  const entries = await view.kv.pages.list({ prefix }, options);
  if (versionstamp === null) return undefined;
  const bytesOfDocument = lengths.expireAt === undefined ? 4 : 12;
  const learned: KnownSegment = {
    versionstamp,
    lengths,
    words: lengths.lengths.reduce((sum, length) => sum + length, 0),
    firstWords: entries.map((entry) => entry.partAt(prefix.length) as string),
    firstDocs: Int32Array.from(entries, (entry) => entry.partAt(prefix.length + 1) as number),
    keyBlocks: new Map(),
    bytes: 200 + bytesOfDocument * docs + 64 * entries.length,
    comparedAt: listedAt,
  };
  memory.set(name, learned);
  return learned;
}

/** Remembers keys of the documents of a known segment. */
export function rememberKeys(
  view: ReadView,
  group: TextGroup,
  segment: Segment,
  known: KnownSegment,
  block: number,
  keys: KeyBlock,
): void {
  memoryOf(view.store.kv).addKeys(nameOf(group, segment), known, block, keys);
}

/** Forgets a segment, in whose place is another one. */
export function forgetSegment(view: ReadView, group: TextGroup, segment: Segment): void {
  memoryOf(view.store.kv).delete(nameOf(group, segment));
}

/** Returns the positions of the blocks that can have postings of a word. The end is exclusive. */
export function blocksOfWord(known: KnownSegment, word: string): [number, number] {
  return blocksWith(known, word, (first) => first === word);
}

/**
 * Returns the positions of the blocks that can have words with a beginning. The end is exclusive.
 */
export function blocksOfRange(known: KnownSegment, start: string): [number, number] {
  return blocksWith(known, start, (first) => first.startsWith(start));
}

function blocksWith(
  { firstWords, firstDocs }: KnownSegment,
  word: string,
  continues: (first: string) => boolean,
): [number, number] {
  let low = 0;
  let high = firstWords.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = compareWords(firstWords[middle]!, word);
    if (order < 0 || (order === 0 && firstDocs[middle] === 0)) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < firstWords.length && continues(firstWords[end]!)) end++;
  return [Math.max(0, low - 1), end];
}
