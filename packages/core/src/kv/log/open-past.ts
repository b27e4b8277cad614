import { nextTurn as setImmediate } from "#platform";
import { type Engine, isRangeEnd, type ReadView } from "../../engine/engine.js";
import { logRecords } from "../../engine/log/log-keys.js";
import { decodeLogRecord, type LogRecord } from "../../engine/log/log-record.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { LogOffError, LogTruncatedError, PastLimitError } from "../../errors/log-errors.js";
import type { KeyOrder } from "../../keys/key-order.js";
import { assertVersionstamp } from "../../values/versionstamp.js";
import { readLogState } from "./log-state.js";
import { PastView, UndoneChanges } from "./past-view.js";
import { isUnknown } from "./read-log-page.js";

/** Options of `openPast`. */
export interface OpenPastOptions {
  /**
   * The maximum number of changes since the moment. They are read from the log and kept in memory.
   * The default is 100,000.
   */
  readonly maxChanges?: number | undefined;
}

const pageSize = 200;
const defaultMaxChanges = 100_000;

/**
 * Opens a view of the state after the last commit up to a moment. It reads the log backwards from
 * the newest commit to the moment. Returns undefined if the engine has no views.
 *
 * @throws {LogOffError} if the database keeps no log.
 * @throws {LogTruncatedError} if the log does not reach back to the moment, or if the database has
 * not made a commit of this versionstamp.
 * @throws {PastLimitError} if there are more than `maxChanges` changes since the moment.
 */
export async function openPast(
  engine: Engine,
  order: KeyOrder,
  moment: string | Date,
  { maxChanges = defaultMaxChanges }: OpenPastOptions = {},
): Promise<ReadView | undefined> {
  const isAtOrBefore = momentTest(moment);
  if (!(maxChanges >= 0))
    throw new InvalidOptionError("maxChanges", "must be a number", "openPast");
  const view = await engine.openView?.();
  if (view === undefined) return undefined;
  try {
    const { since } = (await readLogState(view)) ?? logIsOff();
    if (typeof moment === "string" && moment > since && (await isUnknown(view, moment)))
      throw new LogTruncatedError(moment, since);
    const undone = new UndoneChanges(Date.now());
    let count = 0;
    for await (const record of recordsBackwards(view)) {
      // Between two pages, an owner may have removed records that this view still has.
      if (record.versionstamp <= since) break;
      if (isAtOrBefore(record)) return new PastView(view, undone, order, record.versionstamp);
      count += record.changes.length;
      if (count > maxChanges) throw new PastLimitError(maxChanges);
      undone.add(record);
    }
    // The time of the commit with which the log begins is not known.
    if (typeof moment !== "string" || moment < since)
      throw new LogTruncatedError(typeof moment === "string" ? moment : textOf(moment), since);
    return new PastView(view, undone, order, since);
  } catch (error) {
    view.close();
    throw error;
  }
}

function momentTest(moment: string | Date): (record: LogRecord) => boolean {
  if (moment instanceof Date) {
    const time = moment.getTime();
    if (Number.isNaN(time))
      throw new InvalidOptionError("moment", "must be a valid date", "openPast");
    return (record) => record.time <= time;
  }
  assertVersionstamp(moment);
  return ({ versionstamp }) => versionstamp <= moment;
}

async function* recordsBackwards(view: ReadView): AsyncGenerator<LogRecord> {
  for (let range = logRecords; ; ) {
    const page = await view.getRange({ range, limit: pageSize, reverse: true });
    for (const { versionstamp, value } of page) yield decodeLogRecord(versionstamp, value);
    if (isRangeEnd(page, pageSize)) return;
    range = { start: range.start, end: page.at(-1)!.key };
    // An engine may read at once, and other work of the process gets its turn.
    await setImmediate();
  }
}

function logIsOff(): never {
  throw new LogOffError();
}

function textOf(moment: Date): string {
  return moment.toISOString();
}
