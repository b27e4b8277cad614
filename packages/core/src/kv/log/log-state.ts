import type { ReadView } from "../../engine/engine.js";
import { logStateKey } from "../../engine/log/log-keys.js";
import { CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";
import { decodeValue } from "../../values/decode-value.js";
import { encodeValue } from "../../values/encode-value.js";
import type { LogSettings } from "./log-options.js";

const stateFormat = 1;

/** What a database stores about its log. */
export interface LogState extends LogSettings {
  /** The log has every commit after this versionstamp. */
  readonly since: string;
  /** The size of the log as it was counted last. Only a log with `maxBytes` is counted. */
  readonly counted: LogSize | undefined;
}

/** The bytes of the keys and values of the records up to a commit. */
export interface LogSize {
  readonly bytes: number;
  readonly upTo: string;
}

/**
 * Encodes the state as the value `[1, keepMilliseconds, maxBytes, since, bytes, upTo]`, with null
 * for what is undefined. Without `since`, the log begins after the commit that stores the state.
 */
export function encodeLogState(state: LogSettings & Partial<LogState>): Uint8Array {
  const { keepMilliseconds, maxBytes = null, since = null, counted } = state;
  const size =
    maxBytes === null || counted === undefined ? [null, null] : [counted.bytes, counted.upTo];
  return encodeValue([stateFormat, keepMilliseconds, maxBytes, since, ...size]);
}

/** The state, and the versionstamp of its entry. */
export interface StoredLogState extends LogState {
  readonly version: string;
}

/**
 * Reads the state of the log. Undefined if the database keeps none.
 *
 * @throws {DatabaseFormatError} if the state has a later format.
 */
export async function readLogState(
  reads: Pick<ReadView, "get">,
): Promise<StoredLogState | undefined> {
  const entry = await reads.get(logStateKey);
  if (entry === undefined) return undefined;
  const stored = decodeValue(entry.value);
  if (!Array.isArray(stored))
    throw new CorruptionError("the state of the log is not readable", logStateKey);
  const [format, keepMilliseconds, maxBytes, since, bytes, upTo] = stored;
  if (format !== stateFormat)
    throw new DatabaseFormatError(`its log has the unknown format ${format}`);
  return {
    version: entry.versionstamp,
    keepMilliseconds,
    maxBytes: maxBytes ?? undefined,
    since: since ?? entry.versionstamp,
    counted: bytes === null ? undefined : { bytes, upTo },
  };
}
