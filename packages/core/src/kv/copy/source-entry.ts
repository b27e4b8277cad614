import type { KvKey } from "../../keys/key.js";
import { encodeValue } from "../../values/encode-value.js";
import { bigintOfU64 } from "../../values/kv-u64.js";
import type { KvEntry } from "../kv.js";

const u64Bytes = 8;
/** The assumed size of a value that only the target can encode. */
const unknownValueBytes = 65_536;

/** An entry of the source with its size. */
export interface SourceEntry extends KvEntry<unknown> {
  readonly encodedKey: Uint8Array;
  /** Bytes of the key and the value in Keywright's encoding. */
  readonly bytes: number;
}

export function sourceEntry(
  { value, versionstamp, expireAt }: KvEntry<unknown>,
  key: KvKey,
  encodedKey: Uint8Array,
): SourceEntry {
  const bytes = encodedKey.length + valueBytes(value);
  const entry = { key, value, versionstamp, encodedKey, bytes };
  // A spread would leave out `expireAt` of an entry of compat mode, where it is not enumerable.
  return expireAt === undefined ? entry : { ...entry, expireAt };
}

function valueBytes(value: unknown): number {
  if (bigintOfU64(value) !== undefined) return u64Bytes;
  try {
    return encodeValue(value).length;
  } catch {
    return unknownValueBytes;
  }
}
