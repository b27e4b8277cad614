import type { StoredSet } from "../../engine/engine.js";
import { CorruptionError } from "../../errors/core-errors.js";

const hintPrefix = [0x00, 0x03] as const;
const keyOffset = hintPrefix.length + 8;

/** The key of an entry that expires, and when to sweep it, in milliseconds since the epoch. */
export interface ExpiryHint {
  readonly dueAt: number;
  readonly key: Uint8Array;
}

export const firstHintKey: Uint8Array = Uint8Array.of(...hintPrefix);
export const endOfHintKeys: Uint8Array = Uint8Array.of(hintPrefix[0], hintPrefix[1] + 1);

const nothing = new Uint8Array(0);

/**
 * Returns the hint that is stored with an entry that expires, so that its space can be reclaimed.
 * The key of the hint is `00 03`, the time of the sweep (eight bytes, big-endian), and the key of
 * the entry. The hint has no value.
 *
 * The time is that of the expiry, rounded up to a multiple of a power of two of milliseconds. This
 * power is at most a sixteenth of the life of the entry. So a key that is set repeatedly has few
 * hints, not one for each `set`.
 */
export function expiryHint(set: StoredSet, now: number): StoredSet {
  const { key, expireAt = now, endsInVersionstamp } = set;
  const unit = 2 ** Math.floor(Math.log2(Math.max(1, (expireAt - now) / 16)));
  const hint = { dueAt: Math.ceil(expireAt / unit) * unit, key };
  return {
    type: "set",
    key: encodeHintKey(hint),
    value: nothing,
    endsInVersionstamp: endsInVersionstamp ?? false,
  };
}

export function endOfDueHints(now: number): Uint8Array {
  return encodeHintKey({ dueAt: now + 1, key: nothing });
}

/** @throws {CorruptionError} if the key is too short for a hint. */
export function decodeHintKey(bytes: Uint8Array): ExpiryHint {
  if (bytes.length <= keyOffset) throw new CorruptionError("the key of a hint is too short", bytes);
  return { dueAt: dueAtOfHint(bytes), key: bytes.slice(keyOffset) };
}

/**
 * Returns when to sweep the entry of a hint. Now, if the key is too short, because it is damaged.
 */
export function dueAtOfHint(bytes: Uint8Array): number {
  if (bytes.length < keyOffset) return 0;
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(hintPrefix.length));
}

export function isHintKey(bytes: Uint8Array): boolean {
  return bytes[0] === hintPrefix[0] && bytes[1] === hintPrefix[1];
}

function encodeHintKey({ dueAt, key }: ExpiryHint): Uint8Array {
  const bytes = new Uint8Array(keyOffset + key.length);
  bytes.set(hintPrefix);
  new DataView(bytes.buffer).setBigUint64(hintPrefix.length, BigInt(dueAt));
  bytes.set(key, keyOffset);
  return bytes;
}
