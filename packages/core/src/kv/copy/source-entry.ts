import type { KvKey } from "../../keys/key.js";
import { encodeValue } from "../../values/encode-value.js";
import { bigintOfU64 } from "../../values/kv-u64.js";
import type { KvEntry } from "../kv.js";

const u64Bytes = 8;
/** The assumed size of a value that only the target can encode. */
const unknownValueBytes = 65_536;

/** An entry of the source with its size. */
export interface SourceEntry {
  readonly key: KvKey;
  readonly value: unknown;
  readonly versionstamp: string;
  /** Milliseconds since the epoch. */
  readonly expireAt: number | undefined;
  readonly encodedKey: Uint8Array;
  /** Bytes of the key and the value in Keywright's encoding. */
  readonly bytes: number;
}

/** @param key the key of the entry, which `getMany` may return in another class. */
export function sourceEntry(
  key: KvKey,
  encodedKey: Uint8Array,
  { value, versionstamp, expireAt }: KvEntry<unknown>,
): SourceEntry {
  const bytes = encodedKey.length + valueBytes(value);
  return { key, value, versionstamp, expireAt, encodedKey, bytes };
}

function valueBytes(value: unknown): number {
  if (bigintOfU64(value) !== undefined) return u64Bytes;
  try {
    return encodeValue(value).length;
  } catch {
    return unknownValueBytes;
  }
}
