import { currentTime } from "../../../model/rows/time.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { readStored } from "../../../state/rows/read-rows.js";
import { compareBytes } from "../format/compare-bytes.js";
import type { TextDocument } from "../format/document.js";
import { PostingsBuilder } from "../format/segment-blocks.js";
import { decodeKeys, isExpired } from "../format/segment-docs.js";
import { readDocKeys, readGone, readLengths, SegmentWords } from "../segment-source.js";
import { bytesIn, damagedBytes } from "../stored-bytes.js";
import { firstKeysKey, type TextGroup } from "../text-keys.js";
import type { Segment } from "../text-state.js";

/** A document of a segment that counts, with a sum of all that the segment has of its words. */
export interface SummedDocument {
  readonly key: Uint8Array;
  readonly doc: number;
  /** How many words it has. */
  readonly length: number;
  readonly sum: number;
}

/**
 * Sums up the words of each document of a segment that is not gone and has not expired.
 *
 * @throws {SystemEntryError} if an entry of the segment is damaged.
 */
export async function summedDocuments(
  store: ModelStore,
  group: TextGroup,
  segment: Segment,
): Promise<SummedDocument[]> {
  const gone = new Set((await readGone(store, group)).get(segment.id));
  const keys = await readDocKeys(store, group, segment);
  const { lengths, expireAt } = await readLengths(store, group, segment);
  const [first] = await readStored(store, [firstKeysKey(group, segment.id)]);
  const blocks = decodeKeys(bytesIn(store.model, first!));
  const isComplete =
    keys.length === segment.docs &&
    blocks.length === Math.ceil(segment.docs / segment.docsPerBlock) &&
    blocks.every((key, i) => compareBytes(key, keys[i * segment.docsPerBlock]!) === 0);
  if (!isComplete) throw damagedBytes(store.model, first!.key);
  const sums = new Int32Array(segment.docs);
  const words = new SegmentWords(store, group, segment.id, Math.min(16, store.limits.batchSize));
  const { length: fields } = group.index.text!.fields;
  await words.begin();
  for (let { word } = words; word !== undefined; { word } = words) {
    const hash = hashOfWord(word);
    const builder = new PostingsBuilder();
    for (const part of await words.take()) builder.add(part);
    const { docs, starts, places } = builder.placed(fields);
    for (let i = 0; i < docs.length; i++) {
      let sum = sums[docs[i]!]!;
      for (let p = starts[i]!; p < starts[i + 1]!; p++) sum = added(sum, hash, places[p]!);
      sums[docs[i]!] = sum;
    }
  }
  const now = currentTime();
  return keys.flatMap((key, doc) =>
    gone.has(doc) || isExpired(expireAt?.[doc], now)
      ? []
      : [{ key, doc, length: lengths[doc]!, sum: sums[doc]! }],
  );
}

const encoder = new TextEncoder();

/** Returns the sum of the words of a row. */
export function sumOfDocument({ words }: TextDocument): number {
  let sum = 0;
  for (const [word, places] of words) {
    const hash = hashOfWord(encoder.encode(word));
    for (const place of places) sum = added(sum, hash, place);
  }
  return sum;
}

function added(sum: number, hash: number, place: number): number {
  return (sum + Math.imul(hash ^ Math.imul(place + 1, 0x9e37_79b1), 0x85eb_ca6b)) | 0;
}

function hashOfWord(word: Uint8Array): number {
  let hash = 0x811c_9dc5;
  for (const byte of word) hash = Math.imul(hash ^ byte, 0x0100_0193);
  return hash;
}
