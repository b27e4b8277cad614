import { NotU64Error } from "../../errors/core-errors.js";
import { decodeValue } from "../../values/decode-value.js";
import { encodeValue } from "../../values/encode-value.js";
import { KvU64 } from "../../values/kv-u64.js";
import type { StoredEntry, StoredMutation } from "../engine.js";

type CombineMutation = Extract<StoredMutation, { operand: bigint }>;

/**
 * Returns the encoded value that a `sum`, `min` or `max` stores.
 *
 * @throws {NotU64Error} if the value of the entry is not a `KvU64`.
 */
export function combineU64(mutation: CombineMutation, entry: StoredEntry | undefined): Uint8Array {
  const { type, key, operand } = mutation;
  if (entry === undefined) return encodeValue(new KvU64(operand));
  const stored = decodeValue(entry.value);
  if (!(stored instanceof KvU64)) throw new NotU64Error(type, key);
  return encodeValue(new KvU64(combined(type, stored.value, operand)));
}

function combined(type: CombineMutation["type"], stored: bigint, operand: bigint): bigint {
  if (type === "sum") return BigInt.asUintN(64, stored + operand);
  const isStored = type === "min" ? stored <= operand : stored >= operand;
  return isStored ? stored : operand;
}
