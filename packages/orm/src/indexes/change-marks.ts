import { encodeKey, type KvKey, type KvKeyPart } from "@keywright/core";
import { type CompiledIndex, type CompiledModel, ownPrefix } from "../model/compiled-model.js";
import type { IndexEntry } from "./index-entries.js";

/** So many marks an index has at the most, whatever values its rows have. */
const buckets = 64;

/**
 * The keys that a commit of a `live: true` model counts up, each of them once: that of the model, and one for each group
 * of index entries that it touches. A group is made of the entries whose first part falls into the same of 64 buckets.
 *
 * @param entries those that the commit takes away and puts there, and those of the row that stay as they are: a row that
 * changes within a range concerns who reads the range.
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
 * The mark that changes whenever a row comes into a read's range, goes out of it, or changes within it: that of the
 * index's bucket where the read has a value for the index's first part, else that of the model. It changes too where rows
 * beside the range do.
 *
 * @param index undefined for the rows themselves.
 * @param equals the first parts of the keys that are read, as the index holds them.
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
  return [ownPrefix, "changes", model.prefix];
}

function indexMark(model: CompiledModel, index: CompiledIndex, bucket: number): KvKey {
  return [ownPrefix, "changes", model.prefix, index.name, bucket];
}

/** FNV-1a over the bytes of the part: every program that writes to the database has to find the same bucket. */
function bucketOf(part: KvKeyPart): number {
  let hash = 0x811c_9dc5;
  for (const byte of encodeKey([part])) hash = Math.imul(hash ^ byte, 0x0100_0193);
  // The low bits alone would not tell values apart that differ in high bits of their bytes.
  return ((hash ^ (hash >>> 16)) >>> 0) % buckets;
}
