import { type Engine, isRangeEnd, type ReadView, type StoredEntry } from "../../engine/engine.js";
import { logRecordKey, logRecordsAfter, logSwitchKey } from "../../engine/log/log-keys.js";
import { LogOffError, LogTruncatedError } from "../../errors/core-errors.js";
import { readLogState } from "./log-state.js";

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
    const isLast = records.length === 0 && position > state.since;
    if (isLast && (await isUnknown(engine, reads, position)))
      throw new LogTruncatedError(position, state.since);
    return { records, position, isEnd: isRangeEnd(records, limit), id };
  } finally {
    view?.close();
  }
}

/** True if a position without later records is after the last commit of the database. */
async function isUnknown(
  { keepsLog, listen }: Engine,
  reads: Pick<ReadView, "get" | "versionstamp">,
  position: string,
): Promise<boolean> {
  const { versionstamp } = reads;
  // The views of other engines may have later commits than the one of their versionstamp.
  const isExact = keepsLog === true || listen !== undefined;
  if (!isExact || versionstamp === undefined || position <= versionstamp) return false;
  return (await reads.get(logRecordKey(position))) === undefined;
}
