import { compareKeys, type KvEntry, type KvKey, type KvLike } from "@keywright/core";
import { type EntryRange, listEntries, type ReadOptions } from "../entries/list-entries.js";
import { keywrightPrefix } from "./model-places.js";

const ownKey: KvKey = [keywrightPrefix];
/** The first key after those that begin with {@link keywrightPrefix}. */
const afterOwnKeys: KvKey = [`${keywrightPrefix}\0`];

/** True if a bound of the range begins with {@link keywrightPrefix}. */
export function includesKeywrightKeys({ prefix, start, end }: EntryRange): boolean {
  return [prefix, start, end].some((key) => key?.[0] === keywrightPrefix);
}

/** Skips Keywright's own entries without reading them. No bound may begin with their prefix. */
export async function* listOthers(
  kv: KvLike,
  range: EntryRange,
  { limit = Number.POSITIVE_INFINITY, ...options }: ReadOptions = {},
): AsyncGenerator<KvEntry<unknown>> {
  const ranges = rangesWithoutOwn(range);
  let remaining = limit;
  for (const subrange of options.reverse ? ranges.reverse() : ranges) {
    const subrangeLimit = Number.isFinite(remaining) ? { limit: remaining } : {};
    for await (const entry of listEntries(kv, subrange, { ...options, ...subrangeLimit })) {
      yield entry;
      remaining--;
    }
    if (remaining === 0) return;
  }
}

function rangesWithoutOwn(range: EntryRange): EntryRange[] {
  const { prefix = [], start, end } = range;
  const isAfter = start !== undefined && compareKeys(start, ownKey) > 0;
  const isBefore = end !== undefined && compareKeys(end, ownKey) <= 0;
  if (prefix.length > 0 || isAfter || isBefore) return [range];
  return [
    { start, end: ownKey },
    { start: afterOwnKeys, end },
  ];
}
