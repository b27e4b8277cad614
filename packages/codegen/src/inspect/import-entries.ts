import { Buffer } from "node:buffer";
import { encodeKey, encodeValue, type Kv, type KvLike } from "@keywright/core";
import { ImportLineError } from "../errors/inspect-errors.js";
import { headerFault, parseEntryLine } from "./entry-line.js";
import type { ImportedEntry } from "./import-fates.js";
import { type ImportCounts, type ImportSettings, ImportWriter } from "./import-writer.js";
import type { Line } from "./read-lines.js";

/** How an export is imported. */
export interface ImportOptions extends ImportSettings {
  /** Ends the import between two commits. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of entries that were read so far. */
  readonly onProgress?: ((entries: number) => void) | undefined;
}

/** What was imported. */
export interface ImportResult extends ImportCounts {
  /** It came to the end. */
  readonly isComplete: boolean;
}

/**
 * Puts the entries of an export into a database, as they are: nothing maintains indexes. An entry that is there already, with its
 * value and its expiry, is left alone, so that an import that stopped is simply run again.
 *
 * @throws {ImportLineError} at the first line that is not one of an export.
 * @throws {ImportRefusedError} at the first entry that the database does not take.
 */
export async function importEntries(
  kv: KvLike,
  lines: AsyncIterable<Line>,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const { signal, onProgress } = options;
  const writer = new ImportWriter(kv as Kv, options);
  let entries: number | undefined;
  for await (const line of lines) {
    if (signal?.aborted) break;
    if (entries === undefined) {
      assertHeader(line);
      entries = 0;
      continue;
    }
    await writer.add(entryOf(line));
    onProgress?.(++entries);
  }
  if (signal?.aborted) return { ...writer.counts, isComplete: false };
  if (entries === undefined) throw new ImportLineError(1, "there is nothing in it");
  await writer.flush();
  return { ...writer.counts, isComplete: true };
}

function assertHeader({ text, number }: Line): void {
  const fault = headerFault(text);
  if (fault !== undefined) throw new ImportLineError(number, fault);
}

function entryOf({ text, number }: Line): ImportedEntry {
  try {
    const entry = parseEntryLine(text);
    const encodedKey = Buffer.from(encodeKey(entry.key));
    return { ...entry, line: number, encodedKey, encodedValue: encodeValue(entry.value) };
  } catch (error) {
    const reason = error instanceof TypeError && !("code" in error) ? error.message : undefined;
    throw reason === undefined
      ? new ImportLineError(number, "its key or its value is none", error)
      : new ImportLineError(number, reason);
  }
}
