import { compareBytes } from "../format/compare-bytes.js";
import { DocumentReader } from "../format/document.js";
import type { TextGroup } from "../text-keys.js";
import type { Segment } from "../text-state.js";
import { CollectedWords } from "./collected-words.js";
import { type NewEntry, NewSegment } from "./new-segment.js";

/** A document that becomes part of a segment. */
export interface EncodedDocument {
  /** Its primary key as bytes. */
  readonly key: Uint8Array;
  /** Its words, see `encodeDocument`. */
  readonly bytes: Uint8Array;
}

/** A segment that is not stored yet, with its entries. */
export interface BuiltSegment {
  readonly segment: Segment;
  readonly entries: readonly NewEntry[];
}

/** Makes a segment of documents, which may be in any order. */
export function segmentOf(
  group: TextGroup,
  id: number,
  documents: readonly EncodedDocument[],
): BuiltSegment {
  const { length: fields } = group.index.text!.fields;
  const sorted = documents
    .map(({ key, bytes }) => ({ key, reader: new DocumentReader(bytes, fields) }))
    .sort((a, b) => compareBytes(a.key, b.key));
  const words = new CollectedWords();
  for (const { reader } of sorted) words.add(reader);
  const segment = new NewSegment(group, id);
  segment.addDocs({
    keys: sorted.map(({ key }) => key),
    lengths: Int32Array.from(sorted, ({ reader }) => reader.length),
    expireAt: Float64Array.from(sorted, ({ reader }) => reader.expireAt),
  });
  words.writeTo(segment.words);
  segment.words.finish();
  return { entries: segment.take(), segment: segment.segment };
}
