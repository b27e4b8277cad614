import type { AtomicOperation, KvEntry, KvKey } from "@keywright/core";
import {
  type UnindexedRows,
  type UnreportedRows,
  unreportedPrefix,
  unreportedShape,
} from "../../../state/catalog/backfill-state.js";
import type { IndexState } from "../../../state/catalog/catalog-entry.js";
import { systemValue } from "../../../state/catalog/system-value.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import type { Lease } from "../../../state/run/lease.js";

/** The rows that backfills have left out, and that no completed run has returned yet. */
export interface Unreported {
  /** One element per backfill. Those of a model are in the order in which they began. */
  readonly backfills: readonly UnreportedRows[];
  /** The keys of the records, including those of indexes that are gone. */
  readonly keys: readonly KvKey[];
}

/** The states of an index that a backfill has filled, and that has not been emptied since. */
const filledStates: readonly IndexState[] = ["readable", "unique-pending", "disabled"];

/** Considers only indexes that the program has and that are filled. */
export async function readUnreported(contexts: Iterable<ModelStore>): Promise<Unreported> {
  const backfills: UnreportedRows[] = [];
  const keys: KvKey[] = [];
  for (const context of contexts) {
    const { snapshot } = context.catalog;
    const filled = context.model.indexes
      .filter((index) => filledStates.includes(snapshot.stateOf(index)))
      .map(({ name }) => name);
    for (const { key, value } of await storedUnreported(context)) {
      const remaining = restrictTo(value, (index) => filled.includes(index));
      if (remaining !== undefined) backfills.push(remaining);
      keys.push(key);
    }
  }
  return { backfills, keys };
}

/** Adds mutations to a commit that rebuilds indexes, so that their old reports disappear. */
export async function forgetUnreported(
  context: ModelStore,
  operation: AtomicOperation,
  indexes: readonly string[],
): Promise<void> {
  for (const { key, value } of await storedUnreported(context)) {
    const remaining = restrictTo(value, (index) => !indexes.includes(index));
    if (remaining === undefined) operation.delete(key);
    else if (remaining !== value) operation.set(key, remaining);
  }
}

/** Deletes the reported records in one commit. If the run is killed before, all remain. */
export async function removeUnreported(lease: Lease, { keys }: Unreported): Promise<void> {
  if (keys.length === 0) return;
  await lease.write((operation) => {
    for (const key of keys) operation.delete(key);
  });
}

async function storedUnreported({ kv, model }: ModelStore): Promise<KvEntry<UnreportedRows>[]> {
  const entries: KvEntry<UnreportedRows>[] = [];
  const prefix = unreportedPrefix(model);
  for await (const entry of kv.list<UnreportedRows>({ prefix })) {
    systemValue(entry, unreportedShape, model.name);
    entries.push(entry);
  }
  return entries;
}

/** Returns the rows left out of the selected indexes. Rows that are not listed count as such. */
function restrictTo(
  stored: UnreportedRows,
  isSelected: (index: string) => boolean,
): UnreportedRows | undefined {
  const indexes = stored.indexes.filter(isSelected);
  if (indexes.length === stored.indexes.length) return stored;
  if (indexes.length === 0) return undefined;
  const { count, rows } = stored.unindexed;
  const remaining = rows
    .map((row) => ({ ...row, indexes: row.indexes.filter(isSelected) }))
    .filter((row) => row.indexes.length > 0);
  const unindexed: UnindexedRows = {
    count: count - (rows.length - remaining.length),
    rows: remaining,
  };
  return unindexed.count === 0 ? undefined : { ...stored, indexes, unindexed };
}
