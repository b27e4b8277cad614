import { encodeKey, type KvKey, type KvKeyPart } from "@keywright/core";
import type { CompiledIndex } from "../../model/compiled-model.js";

/** The rows of a text index with the same values of its `key`, among which a search looks. */
export interface TextGroup {
  readonly index: CompiledIndex;
  /** The values, as keys have them. */
  readonly values: readonly KvKeyPart[];
}

/** What the key of an entry says after the values of its group. */
export type TextSection =
  | "docs"
  | "fresh"
  | "gone"
  | "guard"
  | "lengths"
  | "merge"
  | "state"
  | "words";

/** Returns the group to which the key of an entry belongs. */
export function groupOf(index: CompiledIndex, key: KvKey): TextGroup {
  return { index, values: key.slice(1, 1 + index.parts.length) };
}

export function groupPrefix({ index, values }: TextGroup): KvKey {
  return [index.place, ...values];
}

export function sectionPrefix(group: TextGroup, section: TextSection): KvKey {
  return [group.index.place, ...group.values, section];
}

/** The words of a row that no segment has yet. */
export function freshKey(group: TextGroup, primaryKey: readonly KvKeyPart[]): KvKey {
  return [...sectionPrefix(group, "fresh"), ...primaryKey];
}

/** Returns the primary key at the end of a fresh key. */
export function primaryKeyOfFresh({ values }: TextGroup, key: KvKey): KvKey {
  return key.slice(2 + values.length);
}

/** The list of segments. */
export function stateKey(group: TextGroup): KvKey {
  return sectionPrefix(group, "state");
}

/** The words of a segment: see `WordBlock`. */
export function wordsPrefix(group: TextGroup, segment: number): KvKey {
  return [...sectionPrefix(group, "words"), segment];
}

/** The first key of each block of a segment's documents. */
export function firstKeysKey(group: TextGroup, segment: number): KvKey {
  return [...sectionPrefix(group, "docs"), segment];
}

/** The keys of some documents of a segment. */
export function docsKey(group: TextGroup, segment: number, block: number): KvKey {
  return [...firstKeysKey(group, segment), block];
}

/** The lengths of some documents of a segment. */
export function lengthsKey(group: TextGroup, segment: number, block: number): KvKey {
  return [...sectionPrefix(group, "lengths"), segment, block];
}

/**
 * How many documents of a segment one list of gone ones is about. A list of all of them has about
 * as many bytes, which fit a value of Deno KV.
 */
export const docsPerGoneList = 32_768;

/** The documents near another one that do not count any longer, as a list. */
export function goneListKey(group: TextGroup, segment: number, doc: number): KvKey {
  const list = Math.floor(doc / docsPerGoneList);
  const first = [...sectionPrefix(group, "gone"), segment];
  return list === 0 ? first : [...first, "list", list];
}

/** The mark that one document does not count any longer. */
export function goneKey(group: TextGroup, segment: number, doc: number): KvKey {
  return [...sectionPrefix(group, "gone"), segment, doc];
}

/** Returns the document of a mark, or undefined for a list. */
export function markedDoc({ values }: TextGroup, key: KvKey): number | undefined {
  const doc = key[3 + values.length];
  return typeof doc === "number" ? doc : undefined;
}

/** A number to which each commit adds 1 that writes a mark of a segment. */
export function guardKey(group: TextGroup, segment: number): KvKey {
  return [...sectionPrefix(group, "guard"), segment];
}

/** How far the merge is that writes a segment. */
export function mergeKey(group: TextGroup, segment: number): KvKey {
  return [...sectionPrefix(group, "merge"), segment];
}

/** Returns all prefixes of the entries of a segment. Without the first, no merge writes others. */
export function segmentPrefixes(group: TextGroup, segment: number): KvKey[] {
  const sections = ["merge", "words", "docs", "lengths", "gone", "guard"] as const;
  return sections.map((section) => [...sectionPrefix(group, section), segment]);
}

/** Returns the bytes by which a segment sorts its documents. */
export function documentKey(primaryKey: readonly KvKeyPart[]): Uint8Array {
  return encodeKey([...primaryKey]);
}
