import type { KvKey } from "../keys/key.js";
import type { Kv } from "./kv.js";

/** The class of 64-bit unsigned integers of a database: each implementation has one of its own, and takes no other. */
export type U64Class = new (value: bigint) => object;

/**
 * The class that a database has for them. It is not always exported: a number is stored under `key`, where the
 * caller removes it, and read.
 */
export async function u64ClassOf(kv: Kv, key: KvKey): Promise<U64Class> {
  await kv.atomic().sum(key, 0n).commit();
  const { value } = await kv.get<object>(key);
  return (value as object).constructor as U64Class;
}
