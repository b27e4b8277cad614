import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "../../../bytes/crc32.js";

/** The file in the folder of a database that {@link writeClosedMark} writes. */
export const closedMarkName = "keywright.closed";

/**
 * The manifest and the logs of a database when it was last closed, with their sizes in bytes. They
 * were synced to disk. So what is missing of them later is damage, and not the end of a write that
 * was interrupted.
 */
export type ClosedMark = readonly (readonly [file: string, size: number])[];

/**
 * Syncs the files of a database that has been closed, and notes their sizes. A database can do
 * without the note, so this has no effect if a file cannot be written.
 */
export async function writeClosedMark(folder: string): Promise<void> {
  try {
    const manifest = (await readFile(join(folder, "CURRENT"), "utf8")).trim();
    const logs = (await readdir(folder)).filter((name) => /^\d+\.log$/.test(name));
    const files: [string, number][] = [];
    for (const name of [manifest, ...logs]) {
      await syncFile(join(folder, name));
      files.push([name, (await stat(join(folder, name))).size]);
    }
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

/** Returns undefined if there is no note, or if it is incomplete. */
export async function readClosedMark(folder: string): Promise<ClosedMark | undefined> {
  try {
    const line = await readFile(join(folder, closedMarkName), "utf8");
    const [checksum, text] = line.trimEnd().split(" ");
    if (text === undefined || checksum !== checksumOf(text)) return undefined;
    return JSON.parse(text) as ClosedMark;
  } catch {
    return undefined;
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function checksumOf(text: string): string {
  return crc32(new TextEncoder().encode(text)).toString(16).padStart(8, "0");
}
