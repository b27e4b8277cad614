import type { KvEntryMaybe } from "@keywright/core";
import type { CompiledModel } from "../../model/compiled-model.js";
import { count, listOf, object } from "../../model/shape.js";
import { type SystemShape, systemValue } from "../../state/catalog/system-value.js";

/** Some documents of a group with their words, which do not change, except that some are gone. */
export interface Segment {
  readonly id: number;
  readonly docs: number;
  /** How many documents its list of gone ones has, without those that only have a mark. */
  readonly gone: number;
  /** How many documents each block of keys has. */
  readonly docsPerBlock: number;
  /** The bytes of its words. */
  readonly bytes: number;
}

/** A segment that is being written. */
export interface UnfinishedSegment {
  readonly id: number;
  /** When it was begun, in milliseconds since 1970. */
  readonly since: number;
}

/** The segments of a group, as they are stored. Every fold and every merge changes this entry. */
export interface TextState {
  readonly format: 1;
  /** The number that the next segment gets. */
  readonly next: number;
  readonly segments: readonly Segment[];
  /** Segments that merges are writing, or that they had begun when their process died. */
  readonly unfinished: readonly UnfinishedSegment[];
  /** Segments that have been merged and whose entries are being removed. */
  readonly left: readonly number[];
}

const noSegments: TextState = {
  format: 1,
  next: 1,
  segments: [],
  unfinished: [],
  left: [],
};

const stateShape: SystemShape<TextState> = {
  problemOf: object({
    format: count,
    next: count,
    segments: listOf(
      object({ id: count, docs: count, gone: count, docsPerBlock: count, bytes: count }),
    ),
    unfinished: listOf(object({ id: count, since: count })),
    left: listOf(count),
  }),
  remedy: "give the index another name, so that it is built again",
};

/** @throws {SystemEntryError} if the entry is damaged. */
export function textState({ name }: CompiledModel, entry: KvEntryMaybe<unknown>): TextState {
  return systemValue(entry, stateShape, name) ?? noSegments;
}
