import { Buffer } from "node:buffer";
import { encodeKey, encodeValue, type Kv, type KvLike } from "@keywright/core";
import { ImportLineError } from "../errors/inspect-errors.js";
import { type ExportEnd, headerFault, parseLine } from "./entry-line.js";
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
  /** Entries that were read. */
  readonly entries: number;
  /** What they are by the last line of the export; undefined where that was not read. */
  readonly announced: number | undefined;
  /** `stopped`: by its signal. `cut`: the export ended without its last line, or that counts other entries. */
  readonly ending: "complete" | "stopped" | "cut";
}

/**
 * Reads the first line of an export.
 *
 * @throws {ImportLineError} where it is another one, or there is none.
 */
export async function readHeader(lines: AsyncIterator<Line, unknown>): Promise<void> {
  const first = await lines.next();
  if (first.done) throw new ImportLineError(1, "there is nothing in it");
  const { text, number } = first.value;
  const fault = headerFault(text);
  if (fault !== undefined) throw new ImportLineError(number, fault);
}

/**
 * Puts the entries of an export into a database, as they are: nothing maintains indexes. An entry that is there already, with its
 * value and its expiry, is left alone, so that an import that stopped is simply run again. Of an export that is cut, those are
 * imported that it has.
 *
 * @param lines those behind the first.
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
  let entries = 0;
  let announced: number | undefined;
  for await (const line of lines) {
    if (signal?.aborted) break;
    if (announced !== undefined) throw new ImportLineError(line.number, "the export ends above it");
    const read = readLine(line);
    if ("key" in read) {
      await writer.add(read);
      onProgress?.(++entries);
    } else announced = read.entries;
  }
  const isStopped = signal?.aborted === true;
  if (!isStopped) await writer.flush();
  const ending = isStopped ? "stopped" : announced === entries ? "complete" : "cut";
  return { ...writer.counts, entries, announced, ending };
}

function readLine({ text, number }: Line): ImportedEntry | ExportEnd {
  try {
    const read = parseLine(text);
    if (!("key" in read)) return read;
    const encodedKey = Buffer.from(encodeKey(read.key));
    return { ...read, line: number, encodedKey, encodedValue: encodeValue(read.value) };
  } catch (error) {
    const reason = error instanceof TypeError && !("code" in error) ? error.message : undefined;
    throw reason === undefined
      ? new ImportLineError(number, "its key or its value is none", error)
      : new ImportLineError(number, reason);
  }
}
