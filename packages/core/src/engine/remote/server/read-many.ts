import { setImmediate } from "node:timers/promises";
import { maxRangeBytes, type ReadView, type StoredEntry } from "../../engine.js";
import { sliceMilliseconds } from "./read-turns.js";

/** How many keys are read before their bytes are counted. */
const partKeys = 16;

/**
 * Reads keys of a view in slices of time. Returns the entries of the first keys, at least of one,
 * if the values have as many bytes as a read of a range may return.
 */
export async function readMany(
  view: Pick<ReadView, "getMany">,
  keys: readonly Uint8Array[],
): Promise<(StoredEntry | undefined)[]> {
  const entries: (StoredEntry | undefined)[] = [];
  let bytes = 0;
  let end = performance.now() + sliceMilliseconds;
  while (entries.length < keys.length && bytes < maxRangeBytes) {
    const part = await view.getMany(keys.slice(entries.length, entries.length + partKeys));
    for (const entry of part) bytes += entry?.value.length ?? 0;
    entries.push(...part);
    if (performance.now() < end) continue;
    await setImmediate();
    end = performance.now() + sliceMilliseconds;
  }
  return entries;
}
