import {
  CorruptionError,
  type FileDamage,
  type FileReport,
  isKeywrightError,
  ProgressMeter,
} from "@keywright/core";
import { checksumOf, decodeRecord, type EntryCheck, firstSystemKey } from "@keywright/core/engine";
import { readFailure } from "../errors/lmdb-failure.js";
import { decodeHead } from "../file/head.js";
import type { LmdbStore } from "../file/lmdb-store.js";
import { headKey } from "../file/reserved-keys.js";

/** The number of entries that are checked before other work gets its turn. */
const entriesOfTurn = 1000;
/** A report names at most this many damaged records. */
const maxDamages = 100;

/**
 * Reads all entries of one state of a database. Each record must match its checksum, and the number
 * of entries and the sum of their checksums must be those that the head of this state has. So an
 * entry that damage hides is noticed too. Each entry must also be found by its key.
 */
export async function checkEntries(store: LmdbStore, options: EntryCheck): Promise<FileReport> {
  const { file, bytes } = options;
  const transaction = store.useReadTransaction();
  const damages: FileDamage[] = [];
  const report = (reason: string, key?: Uint8Array) => {
    if (damages.length < maxDamages)
      damages.push({ file, offset: 0, reason, firstKey: key, lastKey: key });
  };
  try {
    const head = decodeHead(store.get(headKey, { transaction }));
    let entries = 0;
    let checksums = 0;
    let bytesRead = 0;
    let previous: Uint8Array | undefined;
    const meter = new ProgressMeter(options.onProgress);
    meter.begin("checking");
    for (const { key, value } of store.getRange({ start: firstSystemKey, transaction })) {
      checksums = (checksums + checksumOf(value)) >>> 0;
      bytesRead += key.length + value.length;
      try {
        decodeRecord(key, value);
      } catch (error) {
        report(reasonOf(error), key);
      }
      if (previous !== undefined && Buffer.compare(previous, key) >= 0)
        report("its keys are not in order", key);
      // The pages above the entries may lead elsewhere, so that a scan finds more than a lookup.
      if (store.get(key, { transaction }) === undefined)
        report("an entry is not found by its key", key);
      previous = key;
      entries++;
      if (entries % entriesOfTurn > 0) continue;
      meter.advance(Math.min(bytesRead, bytes), bytes);
      await options.rest();
      if (options.signal.aborted) return { files: 0, bytes: 0, damages: [] };
    }
    if (entries !== head.entries) report(`it has ${entries} entries instead of ${head.entries}`);
    else if (checksums !== head.checksums) report("entries have been exchanged for others");
    meter.advance(bytes, bytes);
  } catch (error) {
    const failure = readFailure(error);
    if (!(failure instanceof CorruptionError)) throw failure;
    report(failure.reason, failure.key);
  } finally {
    transaction.done();
  }
  return { files: 1, bytes, damages };
}

function reasonOf(error: unknown): string {
  if (error instanceof CorruptionError) return error.reason;
  return isKeywrightError(error) ? error.message : String(error);
}
