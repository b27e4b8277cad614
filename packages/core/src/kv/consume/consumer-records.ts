import { CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";
import { decodeValue } from "../../values/decode-value.js";
import { encodeValue } from "../../values/encode-value.js";

const recordFormat = 1;

/** How far a consumer has come. */
export interface ConsumerPosition {
  /** The versionstamp of the last commit that it has handled. */
  readonly position: string;
  /** Identifies the call of `consume` that may move the position. */
  readonly holder: string;
}

/** Which process has a consumer. The entry is deleted when the process gives it up. */
export interface ConsumerLease {
  /** Identifies the call of `consume`. */
  readonly holder: string;
  /** Identifies the process, also among those with the same number. */
  readonly process: string;
  readonly host: string;
  readonly pid: number;
  /** Others take the consumer over if the entry has not changed for this many milliseconds. */
  readonly timeToLive: number;
}

/** Encodes the value `[1, position, holder]`. */
export function encodePosition({ position, holder }: ConsumerPosition): Uint8Array {
  return encodeValue([recordFormat, position, holder]);
}

/** Encodes the value `[1, holder, process, host, pid, timeToLive]`. */
export function encodeLease(lease: ConsumerLease): Uint8Array {
  const { holder, process, host, pid, timeToLive } = lease;
  return encodeValue([recordFormat, holder, process, host, pid, timeToLive]);
}

/**
 * @throws {CorruptionError} if the value is not a position.
 * @throws {DatabaseFormatError} if it has a later format.
 */
export function decodePosition(value: Uint8Array): ConsumerPosition {
  const [position, holder] = partsOf(value);
  if (typeof position !== "string" || typeof holder !== "string") throw damaged();
  return { position, holder };
}

/**
 * @throws {CorruptionError} if the value is not a lease.
 * @throws {DatabaseFormatError} if it has a later format.
 */
export function decodeLease(value: Uint8Array): ConsumerLease {
  const [holder, process, host, pid, timeToLive] = partsOf(value);
  const areTexts = [holder, process, host].every((text) => typeof text === "string");
  if (!areTexts || typeof pid !== "number" || typeof timeToLive !== "number") throw damaged();
  return { holder, process, host, pid, timeToLive } as ConsumerLease;
}

function partsOf(value: Uint8Array): unknown[] {
  const stored = decodeValue(value);
  if (!Array.isArray(stored)) throw damaged();
  const [format, ...parts] = stored;
  if (format !== recordFormat)
    throw new DatabaseFormatError(`a consumer has the unknown format ${format}`);
  return parts;
}

function damaged(): CorruptionError {
  return new CorruptionError("what is stored of a consumer is not readable");
}
