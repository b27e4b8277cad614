import type { Kv, KvLimits } from "@keywright/core";

/** Deno KV's limits, the lowest of all its releases, for databases that state none. */
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

export function limitsOf(kv: Kv & { readonly limits?: KvLimits }): KvLimits {
  return kv.limits ?? defaultLimits;
}
