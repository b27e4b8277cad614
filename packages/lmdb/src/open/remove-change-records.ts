import type { LmdbStore } from "../file/lmdb-store.js";
import { changeRange } from "../file/reserved-keys.js";

/** Frees the space of the change records, which earlier versions stored and nothing reads. */
export async function removeChangeRecords(store: LmdbStore): Promise<void> {
  const keys = [...store.getKeys(changeRange)];
  if (keys.length === 0) return;
  // On a full disk they stay.
  await store
    .batch(() => {
      for (const key of keys) void store.remove(key);
    })
    .catch(() => undefined);
}
