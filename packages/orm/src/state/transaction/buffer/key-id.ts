import {
  encodeKey,
  InvalidKeyError,
  type KeyOrder,
  type KvKey,
  type KvKeyPart,
} from "@keywright/core";
import { Buffer } from "@keywright/core/platform";

/** The encoded bytes of a key, one character for each. Ids sort like their keys. */
export type KeyId = string;

const maxDirectBytes = 200;

export function keyIdOf(key: KvKey, order: KeyOrder): KeyId {
  if (Array.isArray(key) && key.length === 0) throw new InvalidKeyError("it has no parts");
  return boundIdOf(key, order);
}

/** Returns the id of a bound of a range, which may be an empty key. */
export function boundIdOf(key: KvKey, order: KeyOrder): KeyId {
  const bytes = encodeKey(key, order);
  // For a few bytes, a call of Buffer is several times slower than this.
  if (bytes.length <= maxDirectBytes)
    return String.fromCharCode.apply(null, bytes as unknown as number[]);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

export function bytesOfId(id: KeyId): Uint8Array {
  return Uint8Array.from(Buffer.from(id, "latin1"));
}

/** Returns a copy that shares nothing with the key, not even the bytes of its parts. */
export function copyOfKey(key: KvKey): KvKeyPart[] {
  return key.map((part) => (part instanceof Uint8Array ? part.slice() : part));
}
