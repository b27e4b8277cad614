import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { CorruptionError } from "../../../errors/core-errors.js";
import type { CommitRecord } from "../commit-record.js";
import { readLogRecords } from "../files/log-records.js";
import { type Manifest, readManifest } from "../files/manifest.js";
import { type Batch, readBatch } from "./read-batch.js";
import { recordsAfter } from "./records-after.js";

/** A log of which only the first bytes are kept. */
export interface LogCut {
  readonly file: string;
  /** The number of bytes that are kept. */
  readonly size: number;
}

/** What has to be cut off so that the logs contain whole commits without a gap. */
export interface LogCuts {
  /** In the order of the files. Empty if the logs are whole. */
  readonly cuts: readonly LogCut[];
  /** The intact commit records after the first cut. */
  readonly lost: readonly CommitRecord[];
}

/**
 * Finds the end of the last commit before which no commit is missing. The manifest of the database
 * must be intact.
 *
 * @throws {CorruptionError} if a record of a log matches its checksum and is not a batch.
 */
export async function findLogCuts(folder: string): Promise<LogCuts> {
  const manifest = await manifestOf(folder);
  const cuts: LogCut[] = [];
  const lost: CommitRecord[] = [];
  // The number after that of the last write. The first log continues the tables.
  let next = Number.POSITIVE_INFINITY;
  for (const { file, bytes } of await neededLogs(folder, manifest)) {
    const { records, damagedAt } = readLogRecords(bytes ?? new Uint8Array(0));
    const batches = records.map((record) => batchOf(record, file));
    const [first] = batches;
    const isWanted =
      cuts.length === 0 && bytes !== undefined && (first === undefined || first.sequence <= next);
    if (!isWanted) {
      cuts.push({ file, size: 0 });
      lost.push(...commitsOf(batches));
    } else if (damagedAt !== undefined) cuts.push({ file, size: damagedAt });
    if (bytes !== undefined && damagedAt !== undefined)
      lost.push(...commitsOf(recordsAfter(bytes, damagedAt).map((each) => batchOf(each, file))));
    const last = batches.at(-1);
    if (last !== undefined) next = last.sequence + last.count;
  }
  return { cuts, lost };
}

async function manifestOf(folder: string): Promise<Manifest> {
  const name = (await readFile(join(folder, "CURRENT"), "utf8")).trim();
  return readManifest(readLogRecords(await readFile(join(folder, name))).records);
}

interface Log {
  readonly file: string;
  /** Undefined if the file is missing. */
  readonly bytes: Uint8Array | undefined;
}

/** Returns the logs with commits that are in no table, in the order in which they were written. */
async function neededLogs(folder: string, { logNumber }: Manifest): Promise<Log[]> {
  const numbers = (await readdir(folder))
    .filter((name) => /^\d+\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .filter((number) => number >= logNumber)
    .sort((a, b) => a - b);
  const logs: Log[] = [];
  if (logNumber > 0 && numbers[0] !== logNumber)
    logs.push({ file: nameOf(logNumber), bytes: undefined });
  for (const number of numbers)
    logs.push({ file: nameOf(number), bytes: await readFile(join(folder, nameOf(number))) });
  return logs;
}

function nameOf(number: number): string {
  return `${String(number).padStart(6, "0")}.log`;
}

function batchOf(record: Uint8Array, file: string): Batch {
  try {
    return readBatch(record);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const reason = `a record of ${file} is not a batch of writes`;
    throw new CorruptionError(reason, undefined, cause, undefined, { file });
  }
}

function commitsOf(batches: readonly Batch[]): CommitRecord[] {
  return batches.flatMap(({ commit }) => commit ?? []);
}
