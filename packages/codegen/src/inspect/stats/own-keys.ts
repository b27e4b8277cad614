import { compareKeys, type KvEntry, type KvKey, type KvLike } from "@keywright/core";
import { type EntryRange, listEntries, type ReadOptions } from "../entries/list-entries.js";
import { ownPrefix } from "./model-places.js";

const ownKey: KvKey = [ownPrefix];
/** The first key behind those that begin with {@link ownPrefix}: no text is between the two. */
const behindOwn: KvKey = [`${ownPrefix}\0`];

/** Whether a range names Keywright's own keys. */
export function namesOwnKeys({ prefix, start, end }: EntryRange): boolean {
  return [prefix, start, end].some((key) => key?.[0] === ownPrefix);
}

/**
 * The entries of a range that does not name Keywright's own keys, without those. They are not read either, for there may be many.
 *
 * @throws {InvalidSelectorError} as `listEntries`.
 */
export async function* listOthers(
  kv: KvLike,
  range: EntryRange,
  { limit = Number.POSITIVE_INFINITY, ...options }: ReadOptions = {},
): AsyncGenerator<KvEntry<unknown>> {
  const parts = aroundOwn(range);
  let left = limit;
  for (const part of options.reverse ? parts.reverse() : parts) {
    const partLimit = Number.isFinite(left) ? { limit: left } : {};
    for await (const entry of listEntries(kv, part, { ...options, ...partLimit })) {
      yield entry;
      left--;
    }
    if (left === 0) return;
  }
}

/** The parts of a range before and behind Keywright's own keys. */
function aroundOwn(range: EntryRange): EntryRange[] {
  const { prefix = [], start, end } = range;
  const isBehind = start !== undefined && compareKeys(start, ownKey) > 0;
  const isBefore = end !== undefined && compareKeys(end, ownKey) <= 0;
  if (prefix.length > 0 || isBehind || isBefore) return [range];
  return [
    { start, end: ownKey },
    { start: behindOwn, end },
  ];
}
