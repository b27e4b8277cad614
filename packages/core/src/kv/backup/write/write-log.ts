import { Buffer } from "node:buffer";
import type { Engine, StoredEntry } from "../../../engine/engine.js";
import { logRecordKey, logRecords } from "../../../engine/log/log-keys.js";
import { decodeLogRecord } from "../../../engine/log/log-record.js";
import { BackupFullNeededError } from "../../../errors/backup-errors.js";
import { LogOffError, LogTruncatedError } from "../../../errors/log-errors.js";
import { readLogState } from "../../log/log-state.js";
import { type LogPage, readLogPage } from "../../log/read-log-page.js";
import type { BackupSink } from "../backup-sink.js";
import { headName, type LogHeader, newLogName, recordChecksum } from "../format/backup-catalog.js";
import { type BackupKey, decodeObject, encodeObject } from "../format/backup-object.js";
import { EntryBlock } from "../format/entry-block.js";
import { logIdOf } from "./write-full.js";

const pageSize = 200;
/** Objects of commits have about as many bytes before compression, or fewer. */
export const objectBytes: number = 1024 * 1024;

/** Where the commits of a backup end, and what follows. */
export interface LogPosition {
  readonly generation: string;
  readonly log: string;
  /** The versionstamp of the state of the full backup. No earlier state can be restored. */
  readonly oldest: string;
  /** The versionstamp of the last commit of the log that the backup has. */
  readonly position: string;
  /** Tells this commit from another one with its versionstamp. Undefined if it is not known. */
  readonly checksum?: string | undefined;
}

export interface AddedCommits extends Pick<LogPosition, "position" | "checksum"> {
  readonly commits: number;
  readonly storedBytes: number;
  /** The objects that were written, in the order of their commits. */
  readonly objects: readonly LogObject[];
}

/** An object of commits. */
export interface LogObject {
  readonly name: string;
  readonly header: LogHeader;
  /** Bytes of its commits before compression. */
  readonly bytes: number;
}

export interface AddOptions {
  readonly key: BackupKey | undefined;
  /**
   * True to add an object without commits if there are none, so that the backup has this moment.
   */
  readonly isCovering: boolean;
  /** Ends the call with its reason, before a page of the log is read. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Adds the commits of the log after a position to a backup, in objects of about a mebibyte. It ends
 * with those that the log had when it began, however fast programs add others.
 *
 * @throws {BackupFullNeededError} if the log no longer has all of them, or has another commit at
 * the position.
 */
export async function addCommits(
  engine: Engine,
  sink: BackupSink,
  { generation, log, position, checksum }: Omit<LogPosition, "oldest">,
  { key, isCovering, signal }: AddOptions,
): Promise<AddedCommits> {
  const objects: LogObject[] = [];
  const added = { position, checksum, commits: 0, storedBytes: 0, objects };
  const block = new EntryBlock(objectBytes);
  let upTo = position;
  let last: StoredEntry | undefined;
  const put = async (until: number) => {
    if (last !== undefined) added.checksum = recordChecksum(last);
    const header: LogHeader = {
      ...{ log, after: added.position, upTo, until, commits: block.entries },
      checksum: added.checksum,
    };
    const { object, bytes } = await putCommits(sink, generation, header, block.bytes, key);
    objects.push(object);
    added.commits += block.entries;
    added.storedBytes += bytes.length;
    added.position = upTo;
    block.clear();
  };
  let newest: string | undefined;
  for (let isFirst = true; ; isFirst = false) {
    signal?.throwIfAborted();
    // Commits of this time are in the page.
    const now = Date.now();
    const { records, isEnd: isWhole } = await pageAfter(engine, log, upTo);
    if (isFirst) await assertSameCommit(engine, { position, checksum });
    newest ??= isWhole ? "" : await newestCommit(engine);
    for (const record of records) {
      block.add(withoutKey(record));
      upTo = record.versionstamp;
      last = record;
    }
    const until = isWhole || last === undefined ? now : Math.min(now, timeOf(last));
    const isEnd = isWhole || upTo >= newest;
    const isDue = isEnd && (block.entries > 0 || (isCovering && added.commits === 0));
    if (isDue || block.length >= objectBytes) await put(until);
    if (!isEnd) continue;
    if (objects.length > 0) await putHead(sink, generation, added.position, key);
    return added;
  }
}

/**
 * Puts one object in the place of several that follow each other, whose commits it has. A restore
 * that reads them at the same time finds the commits in either.
 */
export async function mergeCommits(
  sink: BackupSink,
  generation: string,
  objects: readonly LogObject[],
  key: BackupKey | undefined,
): Promise<LogObject> {
  const blocks: Buffer[] = [];
  for (const { name } of objects) {
    const lost = "commits that are in one object only";
    blocks.push(await decodeObject(name, await sink.get(name), key, lost).body());
  }
  const { after } = objects[0]!.header;
  const { log, upTo, until, checksum } = objects.at(-1)!.header;
  const commits = objects.reduce((sum, { header }) => sum + header.commits, 0);
  const header: LogHeader = { log, after, upTo, until, commits, checksum };
  const { object } = await putCommits(sink, generation, header, Buffer.concat(blocks), key);
  // The last one first, so that what is left continues at each moment.
  for (const { name } of [...objects].reverse()) await sink.delete(name);
  return object;
}

async function putCommits(
  sink: BackupSink,
  generation: string,
  header: LogHeader,
  block: Uint8Array,
  key: BackupKey | undefined,
): Promise<{ readonly object: LogObject; readonly bytes: Uint8Array }> {
  const name = newLogName(generation, header);
  const { bytes } = await encodeObject({ kind: "commits", generation, ...header }, block, key);
  await sink.put(name, bytes);
  return { object: { name, header, bytes: block.length }, bytes };
}

/** Says how far the commits of a backup reach, after they were put. */
async function putHead(
  sink: BackupSink,
  generation: string,
  upTo: string,
  key: BackupKey | undefined,
): Promise<void> {
  const { bytes } = await encodeObject({ kind: "head", generation, upTo }, Buffer.alloc(0), key);
  await sink.put(headName(generation), bytes);
}

/**
 * A power failure may have lost the last commits of a database with relaxed durability, and others
 * have their versionstamps now.
 *
 * @throws {BackupFullNeededError} if the log has another commit at a position, or none.
 */
async function assertSameCommit(
  engine: Engine,
  { position, checksum }: Pick<LogPosition, "position" | "checksum">,
): Promise<void> {
  if (checksum === undefined) return;
  const record = await engine.get(logRecordKey(position));
  if (record !== undefined && recordChecksum(record) === checksum) return;
  // The log may have been shortened. If too much was removed, its next page cannot be read.
  const since = (await readLogState(engine))?.since;
  if (record === undefined && (since === undefined || since >= position)) return;
  const reason = "the database has lost the last commits of the backup, as after a power failure";
  throw new BackupFullNeededError(reason);
}

/** Returns the versionstamp of the last commit of the log. */
async function newestCommit(engine: Engine): Promise<string> {
  const [last] = await engine.getRange({ range: logRecords, limit: 1, reverse: true });
  return last?.versionstamp ?? "";
}

function timeOf({ versionstamp, value }: StoredEntry): number {
  return decodeLogRecord(versionstamp, value).time;
}

/** The key of a record is its versionstamp. */
function withoutKey({ value, versionstamp }: StoredEntry): StoredEntry {
  return { key: Buffer.alloc(0), value, versionstamp, expireAt: undefined };
}

async function pageAfter(engine: Engine, log: string, position: string): Promise<LogPage> {
  let page: LogPage;
  try {
    page = await readLogPage(engine, position, pageSize);
  } catch (error) {
    if (error instanceof LogOffError)
      throw new BackupFullNeededError("the database keeps no log of its commits", error);
    if (error instanceof LogTruncatedError) {
      const reason = "the log no longer has all commits since the last backup";
      throw new BackupFullNeededError(reason, error);
    }
    throw error;
  }
  if (logIdOf(page.id) === log) return page;
  const reason = "the sink has a backup of another database, or the log was ended since";
  throw new BackupFullNeededError(reason);
}
