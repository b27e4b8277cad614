import { Buffer } from "node:buffer";
import type { Engine, StoredEntry } from "../../engine/engine.js";
import { BackupFullNeededError } from "../../errors/backup-errors.js";
import { LogOffError, LogTruncatedError } from "../../errors/core-errors.js";
import { type LogPage, readLogPage } from "../log/read-log-page.js";
import { type LogHeader, newLogName } from "./backup-catalog.js";
import { type BackupKey, encodeObject } from "./backup-object.js";
import type { BackupSink } from "./backup-sink.js";
import { EntryBlock } from "./entry-block.js";
import { logIdOf } from "./write-full.js";

const pageSize = 200;
const objectBytes = 1024 * 1024;

/** Where the commits of a backup end, and what follows. */
export interface LogPosition {
  readonly generation: string;
  readonly log: string;
  /** The versionstamp of the last commit that the backup has. */
  readonly position: string;
}

export interface AddedCommits {
  readonly position: string;
  readonly commits: number;
  readonly storedBytes: number;
}

/**
 * Adds the commits of the log after a position to a backup, in objects of about a mebibyte.
 *
 * @param isCovering true to add an object without commits if there are none, so that the backup
 * has the state of this moment.
 * @throws {BackupFullNeededError} if the log no longer has all of them.
 */
export async function addCommits(
  engine: Engine,
  sink: BackupSink,
  { generation, log, position }: LogPosition,
  { key, isCovering }: { readonly key: BackupKey | undefined; readonly isCovering: boolean },
): Promise<AddedCommits> {
  const added = { position, commits: 0, storedBytes: 0 };
  const block = new EntryBlock(objectBytes);
  let upTo = position;
  const put = async (until: number) => {
    const header: LogHeader = { log, after: added.position, upTo, until, commits: block.entries };
    const fields = { kind: "commits", generation, ...header };
    const { bytes } = await encodeObject(fields, block.bytes, key);
    await sink.put(newLogName(generation, upTo), bytes);
    added.commits += block.entries;
    added.storedBytes += bytes.length;
    added.position = upTo;
    block.clear();
  };
  for (;;) {
    const { records, isEnd } = await pageAfter(engine, log, upTo);
    const until = Date.now();
    for (const record of records) {
      block.add(withoutKey(record));
      upTo = record.versionstamp;
    }
    const isDue = isEnd && (block.entries > 0 || (isCovering && added.commits === 0));
    if (isDue || block.length >= objectBytes) await put(until);
    if (isEnd) return added;
  }
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
