import {
  CorruptionError,
  type FileDamage,
  type FileReport,
  isKeywrightError,
  ProgressMeter,
} from "@keywright/core";
import { checksumOf, decodeRecord, type EntryCheck, firstSystemKey } from "@keywright/core/engine";
import type { FileConnection } from "../file/file-connection.js";

/** The number of entries that are read before other work gets its turn, and of their bytes. */
const entriesOfTurn = 1000;
const bytesOfTurn = 1024 * 1024;
/** A report names at most this many damaged records. */
const maxDamages = 100;

/**
 * Reads all entries of the state that a connection sees. Each record must match its checksum, and
 * the number of entries and the sum of their checksums must be those of the last commit. So an
 * entry that damage hides is noticed too. Each entry must also be found by its key.
 */
export async function checkEntries(
  connection: FileConnection,
  options: EntryCheck,
): Promise<FileReport> {
  const { file, bytes } = options;
  const damages: FileDamage[] = [];
  const report = (reason: string, key?: Uint8Array) => {
    if (damages.length < maxDamages)
      damages.push({ file, offset: 0, reason, firstKey: key, lastKey: key });
  };
  try {
    // The pages of a large file would take too long in one step.
    if (options.isSmall) connection.reading(() => checkPages(connection, report));
    await checkAll(connection, options, report);
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    report(error.reason, error.key);
  }
  if (options.signal.aborted) return { files: 0, bytes: 0, damages: [] };
  return { files: 1, bytes, damages };
}

type Report = (reason: string, key?: Uint8Array) => void;

/** SQLite also looks at pages that no entry uses, and compares the order of all keys. */
function checkPages(connection: FileConnection, report: Report): void {
  for (const [line] of connection.prepare("PRAGMA integrity_check(10)").all())
    if (line !== "ok") report(`SQLite reports: ${String(line).replaceAll("\n", " ")}`);
}

async function checkAll(
  connection: FileConnection,
  { bytes, rest, onProgress, signal }: EntryCheck,
  report: Report,
): Promise<void> {
  const head = connection.reading(() => connection.head());
  const meter = new ProgressMeter(onProgress);
  meter.begin("checking");
  let entries = 0;
  let checksums = 0;
  let bytesRead = 0;
  let previous: Uint8Array = firstSystemKey;
  let limit = 1;
  for (;;) {
    const rows = connection.reading(() => connection.rowsFrom(previous, entries === 0, limit));
    for (const { key, record } of rows) {
      checksums = (checksums + checksumOf(record)) >>> 0;
      bytesRead += key.length + record.length;
      checkRecord(key, record, report);
      // The pages above the entries may lead elsewhere, so that a scan finds more than a lookup.
      if (connection.reading(() => !connection.has(key)))
        report("an entry is not found by its key", key);
      if (entries > 0 && Buffer.compare(previous, key) >= 0)
        throw new CorruptionError("its keys are not in order", key);
      previous = key;
      entries++;
    }
    if (rows.length < limit) break;
    const size = Math.max(1, bytesRead / entries);
    limit = Math.ceil(Math.min(entriesOfTurn, bytesOfTurn / size));
    meter.advance(Math.min(bytesRead, bytes), bytes);
    await rest();
    if (signal.aborted) return;
  }
  if (entries !== head.entries) report(`it has ${entries} entries instead of ${head.entries}`);
  else if (checksums !== head.checksums) report("entries have been exchanged for others");
  meter.advance(bytes, bytes);
}

function checkRecord(key: Uint8Array, record: Uint8Array, report: Report): void {
  try {
    decodeRecord(key, record);
  } catch (error) {
    if (error instanceof CorruptionError) report(error.reason, key);
    else report(isKeywrightError(error) ? error.message : String(error), key);
  }
}
