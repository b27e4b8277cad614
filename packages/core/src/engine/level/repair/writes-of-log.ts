import { CorruptionError } from "../../../errors/core-errors.js";
import type { FileDamage } from "../../files/file-report.js";
import { readLogRecords } from "../files/log-records.js";
import { type Batch, readBatch } from "./read-batch.js";
import { recordsAfter } from "./records-after.js";
import { isIntactWrite } from "./stored-write.js";
import type { ReadableWrites } from "./writes-of-table.js";

/** What can be read of a log. */
export interface ReadableLog extends ReadableWrites {
  /** In the order in which they were written. */
  readonly batches: readonly Batch[];
}

/**
 * Reads the writes in all intact records of a log, before and after its damage. A damaged record
 * may have had any key.
 */
export function writesOfLog(file: string, log: Uint8Array): ReadableLog {
  const { records, damagedAt } = readLogRecords(log, () => false);
  const batches: Batch[] = [];
  const damages: FileDamage[] = [];
  for (const record of records) {
    const batch = batchOf(record);
    if (batch === undefined) damages.push({ file, offset: 0, reason: "a batch is malformed" });
    else batches.push(batch);
  }
  if (damagedAt !== undefined) {
    const reason = "a record is missing or does not match its checksum";
    damages.push({ file, offset: damagedAt, reason });
    for (const record of recordsAfter(log, damagedAt)) {
      const batch = batchOf(record);
      const last = batches.at(-1);
      // A value can contain bytes of another log. Its records do not continue this one.
      if (batch === undefined || batch.sequence < (last?.sequence ?? 0) + (last?.count ?? 0))
        continue;
      batches.push(batch);
    }
  }
  return { batches, writes: batches.flatMap(({ writes }) => writes), damages };
}

/** Returns undefined if the record is not a batch whose values match their own checksums. */
function batchOf(record: Uint8Array): Batch | undefined {
  try {
    const batch = readBatch(record);
    const isWhole = batch.count === batch.writes.length && batch.writes.every(isIntactWrite);
    return isWhole ? batch : undefined;
  } catch (error) {
    if (error instanceof RangeError || error instanceof CorruptionError) return undefined;
    throw error;
  }
}
