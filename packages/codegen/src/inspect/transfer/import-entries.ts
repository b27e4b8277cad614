import { Buffer } from "node:buffer";
import { encodeKey, encodeValue, type Kv, type KvLike } from "@keywright/core";
import { ImportLineError, ImportRefusedError } from "../../errors/inspect-errors.js";
import { type ExportEnd, headerFault, isLinePart, parseLine } from "../entries/entry-line.js";
import type { ImportedEntry } from "./determine-fates.js";
import { type ImportCounts, type ImportSettings, ImportWriter } from "./import-writer.js";
import type { Line } from "./read-lines.js";

export interface ImportOptions extends ImportSettings {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((entries: number) => void) | undefined;
}

export interface ImportResult extends ImportCounts {
  readonly entries: number;
  /** The number of entries according to the last line. Undefined if that was not read. */
  readonly announced: number | undefined;
  /**
   * - `stopped`: the signal was aborted
   * - `cut`: the export ends within a line or without its last line, or its last line says a
   *   different number of entries
   * - `fault`: a line is not a line of an export, or the database does not accept its entry
   */
  readonly ending: "complete" | "stopped" | "cut" | "fault";
  readonly fault: ImportFault | undefined;
}

export type ImportFault = ImportLineError | ImportRefusedError;

/** Reads the first line of an export. */
export async function readHeader(lines: AsyncIterator<Line, unknown>): Promise<void> {
  const first = await lines.next();
  if (first.done) throw new ImportLineError({ line: 1, reason: "the input is empty" });
  const { text, number } = first.value;
  const fault = headerFault(text);
  if (fault !== undefined) throw new ImportLineError({ line: number, reason: fault });
}

/**
 * Imports the entries of an export unchanged, without maintaining indexes. Leaves entries alone
 * that the database already contains with the same value and expiry. An import that was stopped can
 * therefore simply be repeated. If the export is truncated or has a faulty line, imports the
 * entries before that place.
 *
 * @param lines the lines after the first.
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
  const readFault = await catchFault(async () => {
    for await (const line of lines) {
      if (signal?.aborted) break;
      if (announced !== undefined) {
        throw new ImportLineError({
          line: line.number,
          reason: "the last line of the export is above it",
        });
      }
      if (!line.isEnded && isLinePart(line.text)) break;
      const read = readLine(line);
      if ("key" in read) {
        await writer.add(read);
        onProgress?.(++entries);
      } else announced = read.entries;
    }
  });
  const isStopped = signal?.aborted === true;
  const fault = (isStopped ? undefined : await catchFault(() => writer.flush())) ?? readFault;
  const isComplete = announced === entries;
  const ending = fault ? "fault" : isStopped ? "stopped" : isComplete ? "complete" : "cut";
  return { ...writer.counts, entries, announced, ending, fault };
}

async function catchFault(run: () => Promise<void>): Promise<ImportFault | undefined> {
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
      ? new ImportLineError({ line: number, reason: "its key or its value is not valid" }, error)
      : new ImportLineError({ line: number, reason });
  }
}
