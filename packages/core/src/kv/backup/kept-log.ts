import { EmbeddedKv } from "../embedded-kv.js";
import { changeLog } from "../log/keep-log.js";
import { type LogOptions, logSettings } from "../log/log-options.js";
import { readLogState } from "../log/log-state.js";

/** What a database says of its log. */
export interface LogStatus {
  /** Milliseconds after which a commit is removed from the log. */
  readonly keepMilliseconds: number;
  readonly maxBytes: number | undefined;
  /** The log has every commit after this versionstamp. */
  readonly since: string;
}

/** Returns what is known of the log of a database. Undefined if it keeps none. */
export async function logStatus(kv: EmbeddedKv): Promise<LogStatus | undefined> {
  const state = await readLogState(EmbeddedKv.sharedOf(kv, "logStatus").engine);
  if (state === undefined) return undefined;
  const { keepMilliseconds, maxBytes, since } = state;
  return { keepMilliseconds, maxBytes, since };
}

/**
 * Begins to keep a log, or ends it, as the option `log` of `openKv` does.
 *
 * @throws {LogUnsupportedError} if another process owns the database.
 * @throws {InvalidOptionError} if an option is not valid.
 */
export async function setLog(kv: EmbeddedKv, options: LogOptions | false): Promise<void> {
  const shared = EmbeddedKv.sharedOf(kv, "setLog");
  await changeLog(shared, options === false ? false : logSettings(options));
}
