import { Buffer, randomFillSync } from "#platform";
import type { KeyRange } from "../../keys/key-range.js";

const messagePrefix = [0x00, 0x04] as const;
const idOffset = messagePrefix.length + 8;

const messageIdBytes = 16;
/** The leading bytes of an id count the messages of this process. The others are random. */
const counterBytes = 6;
let counter = 0;

export const messageKeys: KeyRange = {
  start: Uint8Array.of(...messagePrefix),
  end: Uint8Array.of(messagePrefix[0], messagePrefix[1] + 1),
};

/**
 * Returns the key of a message: `00 04`, the time from which it may be delivered (milliseconds
 * since the epoch, eight bytes, big-endian), and its id. So messages are in the order in which they
 * are due.
 */
export function messageKey(readyAt: number, id: Uint8Array): Uint8Array {
  const key = new Uint8Array(idOffset + messageIdBytes);
  key.set(messagePrefix);
  new DataView(key.buffer).setBigUint64(messagePrefix.length, BigInt(readyAt));
  key.set(id, idOffset);
  return key;
}

/** Returns a unique id. Messages that are due at the same time are in the order of these calls. */
export function newMessageId(): Uint8Array {
  const id = randomFillSync(Buffer.alloc(messageIdBytes), counterBytes);
  id.writeUIntBE(counter++, 0, counterBytes);
  return id;
}

/** Returns the time from which a message may be delivered, in milliseconds since the epoch. */
export function readyAtOf(key: Uint8Array): number {
  const view = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
  return Number(view.readBigUInt64BE(messagePrefix.length));
}

export function messageIdOf(key: Uint8Array): Uint8Array {
  return key.subarray(idOffset);
}

export function isMessageKey(key: Uint8Array): boolean {
  const isOfQueue = key[0] === messagePrefix[0] && key[1] === messagePrefix[1];
  return isOfQueue && key.length === idOffset + messageIdBytes;
}
