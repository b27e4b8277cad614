import type { Engine, RangeRead, StoredEntry } from "@keywright/core";
import { isRangeEnd } from "@keywright/core/engine";

/**
 * Reads ranges to their limits or ends, from one snapshot if the engine can. With another engine,
 * each range is a snapshot of its own, or several if its values have more bytes than one read of
 * the engine returns.
 */
export async function readRanges(
  engine: Engine,
  reads: readonly RangeRead[],
): Promise<readonly (readonly StoredEntry[])[]> {
  if (engine.getRanges !== undefined) return await engine.getRanges(reads);
  const ranges = reads.map((read) => readRange(engine, read));
  // All of them end first, so that none is left running if one fails.
  await Promise.allSettled(ranges);
  return await Promise.all(ranges);
}

async function readRange(engine: Engine, { range, limit, reverse }: RangeRead) {
  const entries: StoredEntry[] = [];
  let { start, end } = range;
  for (;;) {
    const missing = limit - entries.length;
    const found = await engine.getRange({ range: { start, end }, limit: missing, reverse });
    entries.push(...found);
    const last = found.at(-1);
    // A shorter answer looks to a client like the end of its range.
    if (last === undefined || found.length === missing || isRangeEnd(found, missing))
      return entries;
    if (reverse) end = last.key;
    else start = Uint8Array.of(...last.key, 0);
  }
}
