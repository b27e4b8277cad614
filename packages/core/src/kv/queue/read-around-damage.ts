import { compareBytes } from "../../bytes/compare-bytes.js";
import type { Engine, StoredEntry } from "../../engine/engine.js";
import { isRangeEnd } from "../../engine/engine.js";
import { CorruptionError } from "../../errors/core-errors.js";
import { type KeyRange, keyAfter } from "../../keys/key-range.js";

export type DamagedRecord = CorruptionError & { readonly key: Uint8Array };

export interface ReadAroundDamage {
  /** The entries in order: `limit` of them, or all that can be read. */
  readonly entries: readonly StoredEntry[];
  readonly damage: readonly DamagedRecord[];
}

/**
 * Reads the first entries of a range and skips damaged records, because one damaged message must
 * not block all messages after it.
 *
 * @throws {CorruptionError} if the damage is not that of one record in the range.
 */
export async function readAroundDamage(
  engine: Engine,
  range: KeyRange,
  limit: number,
): Promise<ReadAroundDamage> {
  try {
    return { entries: await engine.getRange({ range, limit, reverse: false }), damage: [] };
  } catch (error) {
    if (!isDamagedRecord(error, range)) throw error;
    const beforeDamage = { start: range.start, end: error.key };
    const afterDamage = { start: keyAfter(error.key), end: range.end };
    const before = await readAroundDamage(engine, beforeDamage, limit);
    if (!isRangeEnd(before.entries, limit)) return before;
    const missing = limit - before.entries.length;
    const after = await readAroundDamage(engine, afterDamage, missing);
    return {
      entries: [...before.entries, ...after.entries],
      damage: [...before.damage, error, ...after.damage],
    };
  }
}

function isDamagedRecord(error: unknown, { start, end }: KeyRange): error is DamagedRecord {
  if (!(error instanceof CorruptionError) || error.key === undefined) return false;
  return compareBytes(error.key, start) >= 0 && compareBytes(error.key, end) < 0;
}
