import { Buffer } from "node:buffer";
import {
  encodeKey,
  InvalidKeyError,
  type KeyOrder,
  type KvKey,
  type KvKeyPart,
} from "@keywright/core";

/** What a key is known by within a transaction: its encoded bytes, a character each. Such strings compare as the keys do. */
export type KeyId = string;

const fewBytes = 200;

/**
 * The id of the key of an entry.
 *
 * @throws {InvalidKeyError} for what is no key, and for an empty one.
 */
export function keyIdOf(key: KvKey, order: KeyOrder): KeyId {
  if (Array.isArray(key) && key.length === 0) throw new InvalidKeyError("the key is empty");
  return boundOf(key, order);
}

/**
 * The id of a bound of a range, which may be an empty key.
 *
 * @throws {InvalidKeyError} for what is no key.
 */
export function boundOf(key: KvKey, order: KeyOrder): KeyId {
  const bytes = encodeKey(key, order);
  // A call of Buffer costs several times as much as this does for few bytes.
  if (bytes.length <= fewBytes)
    return String.fromCharCode.apply(null, bytes as unknown as number[]);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

/** The bytes of an id. */
export function bytesOfId(id: KeyId): Uint8Array {
  return Uint8Array.from(Buffer.from(id, "latin1"));
}

/** A copy that shares nothing with the key, not even the bytes of its parts. */
export function copyOfKey(key: KvKey): KvKeyPart[] {
  return key.map((part) => (part instanceof Uint8Array ? part.slice() : part));
}
