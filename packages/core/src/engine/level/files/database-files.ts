import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileDamage } from "../../files/file-report.js";
import { type ClosedMark, readClosedMark } from "./closed-mark.js";
import { maxBatchSequence, readLogRecords } from "./log-records.js";
import { type Manifest, readManifest } from "./manifest.js";
import type { TableBounds } from "./table-damage.js";

/** A table of a database that its manifest states. */
export interface TableFile {
  readonly name: string;
  readonly bounds: TableBounds;
}

export function bytesOf(tables: readonly TableFile[]): number {
  return tables.reduce((sum, { bounds }) => sum + bounds.size, 0);
}

/** A log of a database that has commits which are in no table. */
export interface LogFile {
  readonly name: string;
  /** Its last intact record. Undefined if there is none. */
  readonly lastRecord: Uint8Array | undefined;
}

/** The tables and logs of a database, and the damage of its files, except that of tables. */
export interface DatabaseFiles {
  readonly tables: readonly TableFile[];
  readonly logs: readonly LogFile[];
  readonly damages: readonly FileDamage[];
}

/** The manifest that `CURRENT` names. If it is damaged, it states no tables. */
export interface ReadManifest extends Manifest {
  readonly name: string;
  readonly damage: FileDamage | undefined;
  /** Where an incomplete record begins at its end, which a killed process may leave. */
  readonly tornAt: number | undefined;
}

/** While a database is open, LevelDB may replace files between two reads of its folder. */
const maxAttempts = 5;

/**
 * Reads `CURRENT`, the manifest and the logs of a LevelDB database, which may be open. LevelDB
 * skips damaged records of these files in silence, and then deletes what they refer to. So a
 * database has to be verified before LevelDB opens it.
 *
 * A record that is incomplete at the very end of a log is not damage: a process that is killed
 * leaves it. It is damage if the database was closed after the record was written.
 */
export async function readDatabaseFiles(folder: string): Promise<DatabaseFiles> {
  for (let attempt = 1; ; attempt++) {
    const files = await readOnce(folder);
    if (files.damages.length === 0 || attempt === maxAttempts) return files;
  }
}

/** Returns the tables that the manifest states at the moment, or none if it cannot be read. */
export async function readTables(folder: string): Promise<readonly TableFile[]> {
  const manifest = await manifestOf(folder);
  return manifest === undefined ? [] : tablesOf(manifest, await readdir(folder));
}

async function readOnce(folder: string): Promise<DatabaseFiles> {
  const closed = await readClosedMark(folder);
  const manifest = await manifestOf(folder, closed);
  if (manifest === undefined) return { tables: [], logs: [], damages: [] };
  if (manifest.damage !== undefined) return { tables: [], logs: [], damages: [manifest.damage] };
  const names = await readdir(folder);
  const tables = tablesOf(manifest, names);
  const missing = tables
    .filter(({ name }) => !names.includes(name))
    .map(({ name, bounds: { firstKey, lastKey } }): FileDamage => {
      return { file: name, offset: 0, reason: "it is missing", firstKey, lastKey };
    });
  const { logs, damages } = await readLogs(folder, names, manifest, closed);
  return { tables, logs, damages: [...missing, ...damages] };
}

/** Returns undefined if the folder has no file `CURRENT`. */
export async function manifestOf(
  folder: string,
  closed?: ClosedMark,
): Promise<ReadManifest | undefined> {
  const current = await readIfPresent(folder, "CURRENT");
  if (current === undefined) return undefined;
  const name = /^(MANIFEST-\d{1,20})\n$/.exec(new TextDecoder("latin1").decode(current))?.[1];
  if (name === undefined) return damaged("CURRENT", 0, "it does not name a manifest");
  const bytes = await readIfPresent(folder, name);
  if (bytes === undefined) return damaged(name, 0, "it is missing");
  const [closedName, closedSize] = closed?.find(([file]) => file.startsWith("MANIFEST")) ?? ["", 0];
  if (numberOf(closedName) > numberOf(name))
    return damaged("CURRENT", 0, "it names a manifest that was replaced before the last close");
  const { records, damagedAt: tornAt, isFollowed } = readLogRecords(bytes);
  const damagedAt = tornAt ?? bytes.length;
  if (isFollowed || (closedName === name && damagedAt < closedSize))
    return damaged(name, damagedAt, "a record is missing or does not match its checksum");
  try {
    return { ...readManifest(records), name, damage: undefined, tornAt };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return damaged(name, 0, "a record is malformed");
  }
}

function damaged(file: string, offset: number, reason: string): ReadManifest {
  const damage = { file, offset, reason };
  return {
    name: file,
    damage,
    tornAt: undefined,
    logNumber: 0,
    lastSequence: 0,
    tables: new Map(),
  };
}

/** @param names the names of the files in the folder. */
export function tablesOf({ tables }: Manifest, names: readonly string[]): TableFile[] {
  return [...tables].map(([number, bounds]) => {
    const text = String(number).padStart(6, "0");
    // Early versions of LevelDB named tables `.sst`.
    const name = names.includes(`${text}.sst`) ? `${text}.sst` : `${text}.ldb`;
    return { name, bounds };
  });
}

async function readLogs(
  folder: string,
  names: readonly string[],
  { logNumber, lastSequence }: Manifest,
  closed: ClosedMark | undefined,
): Promise<{ readonly logs: readonly LogFile[]; readonly damages: readonly FileDamage[] }> {
  const isNeeded = (name: string) => /^\d+\.log$/.test(name) && numberOf(name) >= logNumber;
  const needed = names.filter(isNeeded).sort((a, b) => numberOf(a) - numberOf(b));
  const closedLogs = (closed ?? []).filter(([name]) => isNeeded(name));
  if (logNumber > 0 && numberOf(needed[0] ?? "") !== logNumber)
    return missingLog(`${String(logNumber).padStart(6, "0")}.log`);
  const missing = closedLogs.find(([name]) => !needed.includes(name));
  if (missing !== undefined) return missingLog(missing[0]);
  const logs: LogFile[] = [];
  // The manifest may state a later number than that of records in these logs, because LevelDB
  // writes while it merges tables.
  const end = lastSequence + maxWrites;
  let sequence = 0;
  let torn: FileDamage | undefined;
  for (const name of needed) {
    const bytes = (await readIfPresent(folder, name)) ?? new Uint8Array(0);
    const canFollow = (record: Uint8Array, last: Uint8Array | undefined) => {
      const found = sequenceOf(record);
      return found >= (last === undefined ? sequence : sequenceOf(last)) && found < end;
    };
    const { records, damagedAt, isFollowed } = readLogRecords(bytes, canFollow);
    if (records.some((record) => sequenceOf(record) > maxBatchSequence)) {
      const reason = "a record has a sequence number that is too large";
      return { logs, damages: [{ file: name, offset: 0, reason }] };
    }
    if (torn !== undefined && (records.length > 0 || isFollowed)) return { logs, damages: [torn] };
    const lastRecord = records.at(-1);
    logs.push({ name, lastRecord });
    if (lastRecord !== undefined) sequence = sequenceOf(lastRecord);
    const offset = damagedAt ?? bytes.length;
    const reason = "a record is missing or does not match its checksum";
    const damage = { file: name, offset, reason };
    const closedSize = closedLogs.find(([log]) => log === name)?.[1] ?? 0;
    if (isFollowed || offset < closedSize) return { logs, damages: [damage] };
    if (damagedAt !== undefined) torn ??= damage;
  }
  return { logs, damages: [] };
}

function missingLog(file: string): {
  readonly logs: readonly LogFile[];
  readonly damages: readonly FileDamage[];
} {
  return { logs: [], damages: [{ file, offset: 0, reason: "it is missing" }] };
}

/** The maximum number of writes that logs can contain. */
const maxWrites = 2 ** 32;

/** The sequence number with which a batch begins. NaN if the record is too short. */
function sequenceOf(record: Uint8Array): number {
  let value = 0;
  for (let i = 7; i >= 0; i--) value = value * 256 + (record[i] ?? Number.NaN);
  return value;
}

function numberOf(name: string): number {
  return Number(/\d+/.exec(name)?.[0] ?? 0);
}

async function readIfPresent(folder: string, name: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
