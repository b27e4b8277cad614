import type { KvEntryMaybe, KvKey } from "@keywright/core";
import {
  type GoneDocs,
  readLengths,
  type SegmentLengths,
} from "../../../derived/text/segment-source.js";
import { lengthsKey, type TextGroup, wordsPrefix } from "../../../derived/text/text-keys.js";
import type { Segment } from "../../../derived/text/text-state.js";
import { awaitAll } from "../../../promises/await-all.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { readStored } from "../../../state/rows/read-rows.js";
import type { WantedWords } from "../wanted-words.js";
import {
  blocksOfRange,
  blocksOfWord,
  forgetSegment,
  type KnownSegment,
  knownSegment,
} from "./segment-memory.js";
import { SegmentReader } from "./segment-reader.js";
import { firstAfter, type TextSource, type WordPostings } from "./text-source.js";

/** Ranges with more blocks are read block by block, until they have enough words. */
const maxBlocksOfRange = 32;

/** Reads what a query needs of segments. Blocks of known segments are read in one call. */
export async function readSegments(
  view: ReadView,
  meter: ReadMeter,
  group: TextGroup,
  { segments, versionstamp }: ListedSegments,
  gone: GoneDocs,
  wanted: WantedWords,
): Promise<TextSource[]> {
  const known = await awaitAll(
    segments.map((segment) =>
      knownSegment(view, group, segment, versionstamp, () => readLengths(view, group, segment)),
    ),
  );
  const keys: KvKey[] = [];
  // The first lengths of segments that may have been replaced. What is remembered of a segment was
  // not counted as read either.
  const compared: KvKey[] = [];
  const plans = known.map((one, i) => {
    if (one === undefined) return undefined;
    const blocks = new KnownBlocks(group, segments[i]!, one, wanted, keys);
    if (one.comparedAt === versionstamp) return { blocks, compared: undefined };
    return { blocks, compared: compared.push(lengthsKey(group, segments[i]!.id, 0)) - 1 };
  });
  meter.add(keys.length);
  const entries = await readStored(view, [...keys, ...compared]);
  return await awaitAll(
    segments.map(async (segment, i) => {
      const plan = plans[i];
      let current = known[i];
      if (current !== undefined && plan?.compared !== undefined) {
        const { versionstamp: stored } = entries[keys.length + plan.compared]!;
        if (stored === current.versionstamp) current.comparedAt = versionstamp;
        else {
          forgetSegment(view, group, segment);
          current = undefined;
        }
      }
      const reader = new SegmentReader(view, meter, group, segment, current);
      return await sourceOf(reader, segment, gone.get(segment.id) ?? [], wanted, {
        lengths: current?.lengths ?? (await readLengths(view, group, segment)),
        words: current?.words,
        blocks: current && plan?.blocks.read(entries),
      });
    }),
  );
}

/** The segments of a group. */
interface ListedSegments {
  readonly segments: readonly Segment[];
  /** That of their list. */
  readonly versionstamp: string;
}

interface ReadBlocks {
  ofWord(word: string): readonly KvEntryMaybe<unknown>[];
  /** Undefined if the range has many. */
  ofRange(start: string): readonly KvEntryMaybe<unknown>[] | undefined;
}

/** The blocks of a known segment that a query needs. Each is read once. */
class KnownBlocks {
  readonly #known: KnownSegment;
  /** The position of a block → that of its key among those that are read. */
  readonly #at = new Map<number, number>();

  /** @param keys gets the keys of the blocks. */
  constructor(
    group: TextGroup,
    { id }: Segment,
    known: KnownSegment,
    wanted: WantedWords,
    keys: KvKey[],
  ) {
    this.#known = known;
    const prefix = wordsPrefix(group, id);
    const add = ([from, to]: readonly [number, number]) => {
      for (let block = from; block < to; block++) {
        if (this.#at.has(block)) continue;
        this.#at.set(block, keys.length);
        keys.push([...prefix, known.firstWords[block]!, known.firstDocs[block]!]);
      }
    };
    for (const word of wanted.exact.keys()) add(blocksOfWord(known, word));
    for (const { start } of wanted.ranges) {
      const blocks = blocksOfRange(known, start);
      if (isShort(blocks)) add(blocks);
    }
  }

  read(entries: readonly KvEntryMaybe<unknown>[]): ReadBlocks {
    const among = ([from, to]: readonly [number, number]) => {
      const found: KvEntryMaybe<unknown>[] = [];
      for (let block = from; block < to; block++) found.push(entries[this.#at.get(block)!]!);
      return found;
    };
    return {
      ofWord: (word) => among(blocksOfWord(this.#known, word)),
      ofRange: (start) => {
        const blocks = blocksOfRange(this.#known, start);
        return isShort(blocks) ? among(blocks) : undefined;
      },
    };
  }
}

function isShort([from, to]: readonly [number, number]): boolean {
  return to - from <= maxBlocksOfRange;
}

interface Stored {
  readonly lengths: SegmentLengths;
  /** How many words its documents have, if it is known. */
  readonly words: number | undefined;
  readonly blocks: ReadBlocks | undefined;
}

async function sourceOf(
  reader: SegmentReader,
  { id, docs }: Segment,
  goneDocs: readonly number[],
  wanted: WantedWords,
  { lengths: { lengths, expireAt }, words: allWords, blocks }: Stored,
): Promise<TextSource> {
  const words = new Map<string, WordPostings>();
  const ranges = new Map<string, readonly string[]>();
  await awaitAll([
    ...[...wanted.exact].map(async ([word, needsPlaces]) => {
      const postings =
        blocks === undefined
          ? await reader.postingsOf(word, needsPlaces)
          : reader.postingsIn(blocks.ofWord(word), word, needsPlaces);
      if (postings !== undefined) words.set(word, postings);
    }),
    ...wanted.ranges.map(async (range) => {
      ranges.set(range.name, await reader.readRange(range, words, blocks?.ofRange(range.start)));
    }),
  ]);
  // One time for both, or a document that expires between two counts as one that never expires.
  const now = Date.now();
  return {
    segment: id,
    docs,
    lengths,
    gone: goneFlags(docs, goneDocs, expireAt, now),
    totals:
      allWords === undefined || expireAt !== undefined
        ? undefined
        : totalsWithout(goneDocs, lengths, allWords),
    expireAt: firstAfter(now, expireAt ?? []),
    words,
    ranges,
    keysOf: (some) => reader.keysOf(some),
  };
}

/** Returns how many documents count, and how many words they have. */
function totalsWithout(
  goneDocs: readonly number[],
  lengths: Int32Array,
  allWords: number,
): TextSource["totals"] {
  let words = allWords;
  const gone = new Set(goneDocs.filter((doc) => doc < lengths.length));
  for (const doc of gone) words -= lengths[doc]!;
  return { documents: lengths.length - gone.size, words };
}

function goneFlags(
  size: number,
  docs: readonly number[],
  expireAt: Float64Array | undefined,
  now: number,
): Uint8Array | undefined {
  if (docs.length === 0 && expireAt === undefined) return undefined;
  const flags = new Uint8Array(size);
  for (const doc of docs) flags[doc] = 1;
  for (let doc = 0; expireAt !== undefined && doc < size; doc++) {
    if (expireAt[doc]! > 0 && expireAt[doc]! <= now) flags[doc] = 1;
  }
  return flags;
}
