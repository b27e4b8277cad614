import type { CompiledIndex } from "../../../model/compiled-model.js";
import type { IndexEntry } from "../../../model/keys/index-entries.js";
import {
  type Duplicate,
  duplicateKey,
  duplicateShape,
  duplicatesOfValue,
  duplicatesPrefix,
} from "../../../state/catalog/backfill-state.js";
import { systemValue } from "../../../state/catalog/system-value.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { type Commit, makeReadable, resolveDuplicate } from "./resolve-duplicates.js";

/** How many duplicates one write checks in addition to those of the values that it releases. */
const maxOthers = 100;

const commit: Commit = (operation) => operation.commit();

/**
 * Resolves duplicates after a write has released values of unique indexes that are unique-pending.
 * A row that can now have such a value gets it, and an index without duplicates becomes readable.
 *
 * The write has already been committed. If this fails, or if the process dies first, the next write
 * that releases a value of the index does it, or the next run of a migration.
 *
 * @param released the entries that the written row no longer has.
 */
export async function resolveReleased(
  { model, catalog, limits }: ModelStore,
  released: readonly IndexEntry[],
  primaryKey: Duplicate["primaryKey"],
): Promise<void> {
  const { snapshot } = catalog;
  const entries = released.filter(({ index }) => snapshot.stateOf(index) === "unique-pending");
  if (entries.length === 0) return;
  const store = { kv: catalog.database, model, catalog, limits };
  try {
    for (const entry of entries) await resolveValue(store, entry, primaryKey);
    for (const index of new Set(entries.map((entry) => entry.index))) {
      await resolveFirst(store, index);
    }
  } catch {
    // The write itself has not failed.
  }
}

/**
 * Makes a unique-pending index readable if none of its duplicates is left. Rows that expire are
 * duplicates no longer, but no write releases their values.
 */
export async function resolvePendingIndex(store: ModelStore, index: CompiledIndex): Promise<void> {
  try {
    await resolveFirst(store, index);
  } catch {
    // The caller reports that the index cannot be read.
  }
}

/** Resolves duplicates of a value. The row that released it may have been a duplicate itself. */
async function resolveValue(
  store: ModelStore,
  { index, key }: IndexEntry,
  primaryKey: Duplicate["primaryKey"],
): Promise<void> {
  const { kv, model } = store;
  const value = key.slice(1);
  const rowDuplicate: Duplicate = { model: model.name, index: index.name, value, primaryKey };
  const { versionstamp } = await kv.get(duplicateKey(model, rowDuplicate));
  if (versionstamp !== null) await resolveDuplicate(store, index, rowDuplicate, commit);
  const prefix = duplicatesOfValue(model, index.name, value);
  for await (const entry of kv.list({ prefix })) {
    const duplicate = systemValue(entry, duplicateShape, model.name);
    if (duplicate === null) continue;
    // If one row has the value, no other row can have it.
    if (!(await resolveDuplicate(store, index, duplicate, commit))) return;
  }
}

/** Resolves duplicates up to the first that remains. If none does, the index becomes readable. */
async function resolveFirst(store: ModelStore, index: CompiledIndex): Promise<void> {
  const selector = { prefix: duplicatesPrefix(store.model, index.name) };
  for await (const entry of store.kv.list(selector, { limit: maxOthers })) {
    const duplicate = systemValue(entry, duplicateShape, store.model.name);
    if (duplicate === null) continue;
    if (!(await resolveDuplicate(store, index, duplicate, commit))) return;
  }
  await makeReadable(store, index, commit);
}
