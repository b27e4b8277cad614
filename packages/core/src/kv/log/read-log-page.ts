import { type Engine, isRangeEnd, type ReadView, type StoredEntry } from "../../engine/engine.js";
import { logRecordKey, logRecordsAfter, logSwitchKey } from "../../engine/log/log-keys.js";
import { ReadViewEndedError } from "../../errors/core-errors.js";
import { LogOffError, LogTruncatedError } from "../../errors/log-errors.js";
import { readLogState } from "./log-state.js";

const mostAttempts = 10;

/** Some records of the log, as they are stored. */
export interface LogPage {
  readonly records: readonly StoredEntry[];
  /** The versionstamp after which they follow. */
  readonly position: string;
  /** True if the log has no further records. */
  readonly isEnd: boolean;
  /** The value of the switch of the log, which no other log has. */
  readonly id: Uint8Array;
}

/**
 * Reads the records after a position from a state in which the log still has all of them.
 *
 * @param after a versionstamp. By default, the page begins with the oldest commit of the log.
 * @throws {LogOffError} if the database keeps no log.
 * @throws {LogTruncatedError} if commits after the position were removed, or if the database has
 * not made a commit of this position, as after a restore.
 */
export async function readLogPage(
  engine: Engine,
  after: string | undefined,
  limit: number,
): Promise<LogPage> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readPage(engine, after, limit);
    } catch (error) {
      // The view was lost with the process that owned the database. A later view has the page too.
      if (!(error instanceof ReadViewEndedError) || attempt === mostAttempts) throw error;
    }
  }
}

async function readPage(
  engine: Engine,
  after: string | undefined,
  limit: number,
): Promise<LogPage> {
  const view = await engine.openView?.();
  try {
    const reads: Pick<ReadView, "get" | "getRange" | "versionstamp"> = view ?? engine;
    const state = await readLogState(reads);
    const id = (await reads.get(logSwitchKey))?.value;
    if (state === undefined || id === undefined) throw new LogOffError();
    const position = after ?? state.since;
    if (position < state.since) throw new LogTruncatedError(position, state.since);
    const range = logRecordsAfter(position);
    const records = await reads.getRange({ range, limit, reverse: false });
    // Without a view, the log may have been shortened between the reads.
    const since = view === undefined ? (await readLogState(reads))?.since : state.since;
    if (since === undefined) throw new LogOffError();
    if (position < since && after === undefined) return await readPage(engine, after, limit);
    if (position < since) throw new LogTruncatedError(position, since);
    const isLast = records.length === 0 && position > state.since;
    if (isLast && (await isUnknown(reads, position)))
      throw new LogTruncatedError(position, state.since);
    return { records, position, isEnd: isRangeEnd(records, limit), id };
  } finally {
    view?.close();
  }
}

/**
 * True if a versionstamp is after the last commit of the database, as one from before a restore.
 */
export async function isUnknown(
  reads: Pick<ReadView, "get" | "versionstamp">,
  position: string,
): Promise<boolean> {
  const { versionstamp } = reads;
  if (versionstamp === undefined || position <= versionstamp) return false;
  // A view may have commits that are later than its versionstamp.
  return (await reads.get(logRecordKey(position))) === undefined;
}
