import type { StoredEntry } from "../../engine/engine.js";
import { CorruptionError, DatabaseFormatError } from "../../errors/core-errors.js";

const messageFormat = 0x01;
const scheduleOffset = 4;
const intervalBytes = 4;
const lengthBytes = 4;

export interface QueuedMessage {
  /** The encoded value that was enqueued. */
  readonly payload: Uint8Array;
  /** Milliseconds between a failed delivery and the next, one for each retry. */
  readonly backoffSchedule: readonly number[];
  /** Encoded keys under which the payload is stored when the last delivery has failed. */
  readonly keysIfUndelivered: readonly Uint8Array[];
  readonly failures: number;
  /** True if a delivery has begun. If no handler of this process has it, its process has ended. */
  readonly isInDelivery: boolean;
}

/**
 * Encodes a message. The fields are: the format `01`; the number of failed deliveries, one byte;
 * `01` during a delivery, otherwise `00`; the number of intervals, one byte; each interval, four
 * bytes; the number of keys, four bytes; each key, after its length in four bytes; the payload.
 * Numbers are big-endian. A golden vector freezes the format.
 */
export function encodeQueuedMessage(message: QueuedMessage): Uint8Array {
  const { payload, backoffSchedule, keysIfUndelivered } = message;
  const bytes = new Uint8Array(encodedSize(message));
  const view = new DataView(bytes.buffer);
  bytes[0] = messageFormat;
  bytes[1] = message.failures;
  bytes[2] = message.isInDelivery ? 1 : 0;
  bytes[3] = backoffSchedule.length;
  let offset = scheduleOffset;
  for (const interval of backoffSchedule) {
    view.setUint32(offset, interval);
    offset += intervalBytes;
  }
  view.setUint32(offset, keysIfUndelivered.length);
  offset += lengthBytes;
  for (const key of keysIfUndelivered) {
    view.setUint32(offset, key.length);
    bytes.set(key, offset + lengthBytes);
    offset += lengthBytes + key.length;
  }
  bytes.set(payload, offset);
  return bytes;
}

/**
 * Decodes what {@link encodeQueuedMessage} wrote. The payload and the keys are views of `value`.
 *
 * @throws {DatabaseFormatError} if the message has a later format.
 * @throws {CorruptionError} if the bytes are not a complete message.
 */
export function decodeQueuedMessage({
  key,
  value,
}: Pick<StoredEntry, "key" | "value">): QueuedMessage {
  if (value[0] !== messageFormat)
    throw new DatabaseFormatError(`a stored message has the unknown format ${value[0]}`);
  try {
    return decodeFields(value);
  } catch (cause) {
    throw new CorruptionError("a stored message cannot be decoded", key, cause);
  }
}

/** @throws {RangeError} if the bytes end too early. A `DataView` throws it too. */
function decodeFields(bytes: Uint8Array): QueuedMessage {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const failures = view.getUint8(1);
  const isInDelivery = view.getUint8(2) === 1;
  const intervals = view.getUint8(3);
  let offset = scheduleOffset;
  const backoffSchedule = Array.from({ length: intervals }, () => {
    offset += intervalBytes;
    return view.getUint32(offset - intervalBytes);
  });
  const keys = view.getUint32(offset);
  offset += lengthBytes;
  const keysIfUndelivered: Uint8Array[] = [];
  while (keysIfUndelivered.length < keys) {
    const start = offset + lengthBytes;
    offset = start + view.getUint32(offset);
    keysIfUndelivered.push(bytes.subarray(start, offset));
  }
  if (offset >= bytes.length) throw new RangeError("it ends before its payload");
  const payload = bytes.subarray(offset);
  return { payload, backoffSchedule, keysIfUndelivered, failures, isInDelivery };
}

function encodedSize({ payload, backoffSchedule, keysIfUndelivered }: QueuedMessage): number {
  let size = scheduleOffset + backoffSchedule.length * intervalBytes + lengthBytes;
  for (const key of keysIfUndelivered) size += lengthBytes + key.length;
  return size + payload.length;
}
