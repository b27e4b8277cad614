import type { AtomicOperation, Kv, KvEntry, KvKey } from "@keywright/core";
import {
  type UnindexedRows,
  type UnreportedRows,
  unreportedPrefix,
} from "../../catalog/backfill-state.js";
import type { IndexState } from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import type { Lease } from "../run/lease.js";

/** What backfills have left out and no run that has ended has returned. */
export interface Unreported {
  /** Of each backfill; those of a model in the order in which they began. */
  readonly backfills: readonly UnreportedRows[];
  /** Where it is written down, also of indexes that are gone. */
  readonly keys: readonly KvKey[];
}

/** The states of an index that a backfill has filled, and that nothing has emptied since. */
const filledStates: readonly IndexState[] = ["readable", "unique-pending", "disabled"];

/** Reads what the backfills of some models have left out, of indexes that the program has and that are filled. */
export async function readUnreported(contexts: Iterable<TableContext>): Promise<Unreported> {
  const backfills: UnreportedRows[] = [];
  const keys: KvKey[] = [];
  for (const context of contexts) {
    const { snapshot } = context.catalog;
    const filled = context.model.indexes
      .filter((index) => filledStates.includes(snapshot.stateOf(index)))
      .map(({ name }) => name);
    for (const { key, value } of await storedUnreported(context)) {
      const left = onlyOf(value, (index) => filled.includes(index));
      if (left !== undefined) backfills.push(left);
      keys.push(key);
    }
  }
  return { backfills, keys };
}

/** Adds to a commit by which indexes are begun anew that what was left out of them before counts no longer. */
export async function forgetUnreported(
  context: TableContext,
  operation: AtomicOperation,
  indexes: readonly string[],
): Promise<void> {
  for (const { key, value } of await storedUnreported(context)) {
    const left = onlyOf(value, (index) => !indexes.includes(index));
    if (left === undefined) operation.delete(key);
    else if (left !== value) operation.set(key, left);
  }
}

/**
 * Removes what a run returns that has ended, in one commit: a run that is killed before it has all written down still.
 *
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function removeUnreported(kv: Kv, lease: Lease, { keys }: Unreported): Promise<void> {
  if (keys.length === 0) return;
  for (;;) {
    const operation = kv.atomic();
    for (const key of keys) operation.delete(key);
    if ((await lease.commit(operation)).ok) return;
  }
}

async function storedUnreported({ kv, model }: TableContext): Promise<KvEntry<UnreportedRows>[]> {
  const entries: KvEntry<UnreportedRows>[] = [];
  const prefix = unreportedPrefix(model);
  for await (const entry of kv.list<UnreportedRows>({ prefix })) entries.push(entry);
  return entries;
}

/** What was left out of some of the indexes; undefined where nothing was. Rows that are not listed count as theirs. */
function onlyOf(
  stored: UnreportedRows,
  isAsked: (index: string) => boolean,
): UnreportedRows | undefined {
  const indexes = stored.indexes.filter(isAsked);
  if (indexes.length === stored.indexes.length) return stored;
  if (indexes.length === 0) return undefined;
  const { count, rows } = stored.unindexed;
  const theirs = rows
    .map((row) => ({ ...row, indexes: row.indexes.filter(isAsked) }))
    .filter((row) => row.indexes.length > 0);
  const unindexed: UnindexedRows = { count: count - (rows.length - theirs.length), rows: theirs };
  return unindexed.count === 0 ? undefined : { ...stored, indexes, unindexed };
}
