import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileDamage } from "../../files/file-report.js";
import { readClosedMark } from "../files/closed-mark.js";
import { manifestOf, type ReadManifest, tablesOf } from "../files/database-files.js";
import type { TableBounds } from "../files/table-damage.js";
import type { Batch } from "./read-batch.js";
import { writesOfLog } from "./writes-of-log.js";
import { type ReadableWrites, writesOfTable } from "./writes-of-table.js";

/** A table or log that holds data of a database. */
interface DataFile {
  readonly name: string;
  /** Undefined for logs, and if the manifest is damaged. */
  readonly bounds: TableBounds | undefined;
}

/** The tables and logs of a database that may be damaged. */
export interface DataFiles {
  readonly files: readonly DataFile[];
  /** The damage of `CURRENT` and of the manifest, and the files that are missing. */
  readonly damages: readonly FileDamage[];
}

/** What can be read of a file, and its size in bytes. */
export interface ReadableFile extends ReadableWrites {
  readonly bytes: number;
  /** The batches of a log. Empty for a table. */
  readonly batches: readonly Batch[];
}

/**
 * Returns the tables and logs that an intact manifest states. If it is damaged, or if a table that
 * it states is missing, all tables and logs of the folder are returned. Some of them may be left
 * from before, and hold entries that were deleted since.
 */
export async function dataFiles(folder: string): Promise<DataFiles> {
  const names = (await readdir(folder)).sort();
  const manifest = await manifestOf(folder, await readClosedMark(folder));
  const reason = "it is missing";
  const all = names.filter(isDataFile).map((name) => ({ name, bounds: undefined }));
  if (manifest === undefined)
    return { files: all, damages: [{ file: "CURRENT", offset: 0, reason }] };
  const damage = manifest.damage ?? tornEnd(manifest);
  if (damage !== undefined) return { files: all, damages: [damage] };
  const tables = tablesOf(manifest, names);
  const missing = tables
    .filter(({ name }) => !names.includes(name))
    .map(({ name, bounds: { firstKey, lastKey } }): FileDamage => {
      return { file: name, offset: 0, reason, firstKey, lastKey };
    });
  const isNeeded = (name: string) =>
    name.endsWith(".log") && (missing.length > 0 || numberOf(name) >= manifest.logNumber);
  const logs = all.filter(({ name }) => isNeeded(name));
  const { logNumber } = manifest;
  if (logNumber > 0 && !logs.some(({ name }) => numberOf(name) === logNumber))
    missing.push({ file: `${String(logNumber).padStart(6, "0")}.log`, offset: 0, reason });
  const stated = new Map(tables.map((table) => [table.name, table]));
  const present =
    missing.length > 0 ? all.map((file) => stated.get(file.name) ?? file) : [...tables, ...logs];
  return { files: present, damages: missing };
}

/** A record that a killed process was writing looks like one that was damaged later. */
function tornEnd({ name, tornAt }: ReadManifest): FileDamage | undefined {
  if (tornAt === undefined) return undefined;
  return { file: name, offset: tornAt, reason: "its last record is incomplete" };
}

/** Reads all writes of a file that are intact. */
export async function readDataFile(
  folder: string,
  { name, bounds }: DataFile,
): Promise<ReadableFile> {
  try {
    const bytes = await readFile(join(folder, name));
    const read = name.endsWith(".log")
      ? writesOfLog(name, bytes)
      : { batches: [], ...writesOfTable(name, bytes, bounds) };
    return { bytes: bytes.length, ...read };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EIO") throw error;
    const { firstKey, lastKey } = bounds ?? {};
    const reason = "the disk cannot read it";
    const damages = [{ file: name, offset: 0, reason, firstKey, lastKey }];
    return { bytes: 0, writes: [], batches: [], damages };
  }
}

/** True for the names of tables and logs. */
export function isDataFile(name: string): boolean {
  return /^\d+\.(log|ldb|sst)$/.test(name);
}

function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}
