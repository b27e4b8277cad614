import type { Kv, KvLimits } from "@keywright/core";

/** The lowest limits of all releases of Deno KV, for databases that state none. */
export const defaultLimits: KvLimits = {
  keyBytes: 2048,
  valueBytes: 65_536,
  keys: 10,
  batchSize: 500,
  watchedKeys: 10,
  checks: 10,
  mutations: 1000,
  totalMutationBytes: 819_200,
  totalKeyBytes: 81_920,
};

/** Returns the limits that a database states, or else Deno KV's. */
export function limitsOf(kv: Kv & { readonly limits?: KvLimits }): KvLimits {
  return kv.limits ?? defaultLimits;
}
