import { compareBytes } from "../../bytes/compare-bytes.js";
import type { Engine } from "../../engine/engine.js";
import { isRangeEnd } from "../../engine/engine.js";
import { logRecordKey, logRecords } from "../../engine/log/log-keys.js";
import { decodeLogRecord } from "../../engine/log/log-record.js";
import { LogOffError } from "../../errors/log-errors.js";
import { assertVersionstamp } from "../../values/versionstamp.js";
import { readLogState } from "./log-state.js";
import { type ChangesFilter, commitOf, type KvLoggedCommit } from "./read-changes.js";

const pageSize = 200;

/** Options of `lastChange`. */
export interface KvLastChangeOptions {
  /** Only commits before this versionstamp. */
  readonly before?: string | undefined;
  /** The maximum number of commits of the log that are read. No limit by default. */
  readonly maxCommits?: number | undefined;
}

/** The last commit of the log that has changed a key. */
export interface KvLastChange<T = unknown> {
  /** The commit with the change of the key. Undefined if none was found. */
  readonly commit: KvLoggedCommit<T> | undefined;
  /**
   * The commit before which the search can continue. Undefined if all older commits of the log have
   * been read.
   */
  readonly readTo: string | undefined;
}

/**
 * Returns the commit with a versionstamp. Undefined if the log has no such commit, or if it has
 * changed nothing that was asked for.
 *
 * @throws {LogOffError} if the database keeps no log.
 */
export async function readCommit<T>(
  engine: Engine,
  filter: ChangesFilter,
  versionstamp: string,
): Promise<KvLoggedCommit<T> | undefined> {
  assertVersionstamp(versionstamp);
  const record = await engine.get(logRecordKey(versionstamp));
  if (record === undefined && (await readLogState(engine)) === undefined) throw new LogOffError();
  const commit = record && commitOf<T>(record, filter);
  return commit?.changes.length ? commit : undefined;
}

/**
 * Returns the last commit that has changed a key, by reading the log backwards.
 *
 * @throws {LogOffError} if the database keeps no log.
 */
export async function readLastChange<T>(
  engine: Engine,
  filter: ChangesFilter & { readonly key: Uint8Array },
  { before, maxCommits = Number.POSITIVE_INFINITY }: KvLastChangeOptions,
): Promise<KvLastChange<T>> {
  if (before !== undefined) assertVersionstamp(before);
  if ((await readLogState(engine)) === undefined) throw new LogOffError();
  const { start } = logRecords;
  let end = before === undefined ? logRecords.end : logRecordKey(before);
  let readTo = before;
  for (let read = 0; read < maxCommits; ) {
    const limit = Math.min(pageSize, maxCommits - read);
    const page = await engine.getRange({ range: { start, end }, limit, reverse: true });
    for (const record of page) {
      readTo = record.versionstamp;
      const { changes } = decodeLogRecord(readTo, record.value);
      if (changes.some(({ key }) => compareBytes(key, filter.key) === 0))
        return { commit: commitOf<T>(record, filter), readTo };
    }
    if (isRangeEnd(page, limit)) return { commit: undefined, readTo: undefined };
    read += page.length;
    end = page.at(-1)!.key;
  }
  return { commit: undefined, readTo };
}
