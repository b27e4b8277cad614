import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "../../../bytes/crc32.js";
import { syncPath } from "../sync-path.js";
import { readLogRecords } from "./log-records.js";

/** The file in the folder of a database that {@link writeClosedMark} writes. */
export const closedMarkName = "keywright.closed";

/**
 * The manifest and the logs of a database when it was last closed, with their intact bytes. These
 * bytes were synced to disk. If some of them are missing later, the files are damaged: an
 * interrupted write cannot be the cause.
 */
export type ClosedMark = readonly (readonly [file: string, size: number])[];

/**
 * Syncs the files of a database that has just been closed, and notes how many of their bytes are
 * intact records. Writes nothing if another process has opened the database since. The note is
 * optional: if it cannot be written, nothing happens.
 *
 * @param current the content of `CURRENT` before the database was closed.
 */
export async function writeClosedMark(folder: string, current: string): Promise<void> {
  try {
    const logs = (await readdir(folder)).filter((name) => /^\d+\.log$/.test(name));
    const files: [string, number][] = [];
    for (const name of [current.trim(), ...logs]) {
      await syncPath(join(folder, name), "r+");
      // A write that has failed, for example on a full disk, leaves an incomplete record.
      const bytes = await readFile(join(folder, name));
      files.push([name, readLogRecords(bytes).damagedAt ?? bytes.length]);
    }
    if ((await readCurrent(folder)) !== current) return;
    // The names of these files must be on disk before the note. Windows cannot sync a folder.
    if (process.platform !== "win32") await syncPath(folder);
    const text = JSON.stringify(files);
    const mark = await open(join(folder, closedMarkName), "w");
    try {
      await mark.writeFile(`${checksumOf(text)} ${text}\n`);
      await mark.sync();
    } finally {
      await mark.close();
    }
  } catch {
    // The note of an earlier close remains true.
  }
}

/** Returns the content of `CURRENT`. It changes whenever the database is opened. */
export async function readCurrent(folder: string): Promise<string> {
  return await readFile(join(folder, "CURRENT"), "utf8");
}

/** Returns undefined if there is no note, or if it is incomplete or malformed. */
export async function readClosedMark(folder: string): Promise<ClosedMark | undefined> {
  try {
    const line = await readFile(join(folder, closedMarkName), "utf8");
    const [checksum, text] = line.trimEnd().split(" ");
    if (text === undefined || checksum !== checksumOf(text)) return undefined;
    const mark: unknown = JSON.parse(text);
    return isClosedMark(mark) ? mark : undefined;
  } catch {
    return undefined;
  }
}

function isClosedMark(mark: unknown): mark is ClosedMark {
  return (
    Array.isArray(mark) &&
    mark.every(
      (file: unknown) =>
        Array.isArray(file) && typeof file[0] === "string" && typeof file[1] === "number",
    )
  );
}

function checksumOf(text: string): string {
  return crc32(new TextEncoder().encode(text)).toString(16).padStart(8, "0");
}
