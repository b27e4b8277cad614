import type { KvKey } from "../keys/key.js";
import type { Kv } from "./kv.js";

/** A class of 64-bit unsigned integers. Each implementation of Deno KV accepts only its own. */
export type U64Class = new (value: bigint) => object;

/**
 * Returns the class of 64-bit unsigned integers of a database. Not every implementation exports it,
 * so this function stores a number under `key` and reads it. The caller deletes the key.
 */
export async function u64ClassOf(kv: Kv, key: KvKey): Promise<U64Class> {
  await kv.atomic().sum(key, 0n).commit();
  const { value } = await kv.get<object>(key);
  return (value as object).constructor as U64Class;
}
