import type { KvEntryMaybe } from "@keywright/core";
import type { CompiledModel } from "../../../model/compiled-model.js";
import { count, listOf, nullable, object, text } from "../../../model/shape.js";
import { type SystemShape, systemValue } from "../../../state/catalog/system-value.js";

/**
 * How far a merge is. Each commit of the merge checks this entry and changes it, so that only one
 * program continues it, and none after it was given up.
 */
export interface MergeProgress {
  /** The segments that are merged. */
  readonly segments: readonly number[];
  /** When it was changed, in milliseconds since 1970. */
  readonly at: number;
  /** The documents of the new segment. Null until their keys and lengths are written. */
  readonly docs: number | null;
  /** The last word that is written with all its postings. Empty before the first one. */
  readonly word: string;
  /** The bytes of the words that are written. */
  readonly bytes: number;
}

const progressShape: SystemShape<MergeProgress> = {
  problemOf: object({
    segments: listOf(count),
    at: count,
    docs: nullable(count),
    word: text,
    bytes: count,
  }),
  remedy: "give the index another name, so that it is built again",
};

/**
 * Returns null if the merge has ended or was given up.
 *
 * @throws {SystemEntryError} if the entry is damaged.
 */
export function mergeProgress(
  { name }: CompiledModel,
  entry: KvEntryMaybe<unknown>,
): MergeProgress | null {
  return systemValue(entry, progressShape, name);
}
