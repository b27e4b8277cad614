import { Buffer } from "node:buffer";
import { encodeKey, encodeValue, type Kv, type KvLike } from "@keywright/core";
import { ImportLineError, ImportRefusedError } from "../../errors/inspect-errors.js";
import { type ExportEnd, headerFault, isLinePart, parseLine } from "../entries/entry-line.js";
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
  /**
   * `stopped`: by its signal. `cut`: the export ended within a line or without its last one, or that counts other entries.
   * `fault`: a line is not one of an export, or the database does not take its entry.
   */
  readonly ending: "complete" | "stopped" | "cut" | "fault";
  /** What is wrong with a line, above which all entries were imported. */
  readonly fault: ImportFault | undefined;
}

/** What ends an import at a line. */
export type ImportFault = ImportLineError | ImportRefusedError;

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
 * imported that it has, and of one with a faulty line those above it.
 *
 * @param lines those behind the first.
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
  const readFault = await faultOf(async () => {
    for await (const line of lines) {
      if (signal?.aborted) break;
      if (announced !== undefined)
        throw new ImportLineError(line.number, "the export ends above it");
      if (!line.isEnded && isLinePart(line.text)) break;
      const read = readLine(line);
      if ("key" in read) {
        await writer.add(read);
        onProgress?.(++entries);
      } else announced = read.entries;
    }
  });
  const isStopped = signal?.aborted === true;
  const fault = (isStopped ? undefined : await faultOf(() => writer.flush())) ?? readFault;
  const isComplete = announced === entries;
  const ending = fault ? "fault" : isStopped ? "stopped" : isComplete ? "complete" : "cut";
  return { ...writer.counts, entries, announced, ending, fault };
}

async function faultOf(run: () => Promise<void>): Promise<ImportFault | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof ImportLineError || error instanceof ImportRefusedError) return error;
    throw error;
  }
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
