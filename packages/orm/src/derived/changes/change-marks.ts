import { encodeKey, type KvKey, type KvKeyPart } from "@keywright/core";
import {
  type CompiledIndex,
  type CompiledModel,
  systemPrefix,
} from "../../model/compiled-model.js";
import type { IndexEntry } from "../../model/keys/index-entries.js";

/** The maximum number of marks per index, however many distinct values its rows have. */
const bucketCount = 64;

/**
 * Returns the keys that a commit to a `live: true` model increments, each of them once: the mark of
 * the model, and one mark for each group of index entries that the commit touches. A group consists
 * of the entries of an index whose first part falls into the same one of 64 buckets.
 *
 * @param entries the entries that the commit removes and adds, and the entries of the row that stay
 * as they are. A change of a row affects every read of a range that contains the row.
 */
export function changeMarkKeys(model: CompiledModel, entries: readonly IndexEntry[]): KvKey[] {
  const keys: KvKey[] = [modelMark(model)];
  const touched = new Set<string>();
  for (const { index, key } of entries) {
    const first = key[1];
    if (first === undefined) continue;
    const bucket = bucketOf(first);
    const group = `${bucket} ${index.name}`;
    if (touched.has(group)) continue;
    touched.add(group);
    keys.push(indexMark(model, index, bucket));
  }
  return keys;
}

/**
 * Returns the key of the mark that changes whenever a row enters the range of a read, leaves it, or
 * changes within it. This is the mark of the bucket if the read has a value for the first part of
 * the index, otherwise the mark of the model. The mark also changes if some rows outside the range
 * change.
 *
 * @param index undefined if the read uses no index.
 * @param equals the first parts of the keys that are read, as the index stores them.
 */
export function changeMarkOfRead(
  model: CompiledModel,
  index: CompiledIndex | undefined,
  equals: readonly KvKeyPart[],
): KvKey {
  const [first] = equals;
  return index === undefined || first === undefined
    ? modelMark(model)
    : indexMark(model, index, bucketOf(first));
}

function modelMark(model: CompiledModel): KvKey {
  return [systemPrefix, "changes", model.prefix];
}

function indexMark(model: CompiledModel, index: CompiledIndex, bucket: number): KvKey {
  return [systemPrefix, "changes", model.prefix, index.name, bucket];
}

/**
 * Returns the bucket of a part: a number below {@link bucketCount}, from the FNV-1a hash of the
 * encoded part. All programs that write to a database must compute the same bucket.
 */
function bucketOf(part: KvKeyPart): number {
  let hash = 0x811c_9dc5;
  for (const byte of encodeKey([part])) hash = Math.imul(hash ^ byte, 0x0100_0193);
  // The low bits alone would not distinguish values that differ only in the high bits of their
  // bytes.
  return ((hash ^ (hash >>> 16)) >>> 0) % bucketCount;
}
