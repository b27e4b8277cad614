import { MalformedKeyError } from "../../errors/core-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import { encodeKey } from "../../keys/encode-key.js";
import type { KeyRange } from "../../keys/key-range.js";

const positionTag = 0x09;
const leaseTag = 0x0a;

/** The system keys of the positions of all consumers. */
export const consumerPositions: KeyRange = {
  start: Uint8Array.of(0x00, positionTag),
  end: Uint8Array.of(0x00, positionTag + 1),
};

/**
 * Returns the system key of the position of a consumer: `00 09`, and its name as a string part. A
 * commit checks it, so that only the process that has the consumer can commit.
 */
export function consumerPositionKey(name: string): Uint8Array {
  return keyOf(positionTag, name);
}

/**
 * Returns the system key of the lease of a consumer: `00 0a`, and its name as a string part. It is
 * another key than that of the position, so that a renewal does not refuse a commit in progress.
 */
export function consumerLeaseKey(name: string): Uint8Array {
  return keyOf(leaseTag, name);
}

export function isConsumerPositionKey(key: Uint8Array): boolean {
  return key[0] === 0x00 && key[1] === positionTag;
}

export function isConsumerKey(key: Uint8Array): boolean {
  return key[0] === 0x00 && (key[1] === positionTag || key[1] === leaseTag);
}

/**
 * Returns the name of a consumer from one of its keys.
 *
 * @throws {MalformedKeyError} if the key is not one of a consumer.
 */
export function consumerNameOf(key: Uint8Array): string {
  const [name, ...others] = decodeKey(key.subarray(2));
  if (typeof name === "string" && others.length === 0) return name;
  throw new MalformedKeyError("it is not the key of a consumer", 2);
}

function keyOf(tag: number, name: string): Uint8Array {
  return Uint8Array.of(0x00, tag, ...encodeKey([name]));
}
