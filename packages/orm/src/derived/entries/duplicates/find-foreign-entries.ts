import type { AtomicCheck } from "@keywright/core";
import { primaryKeyOfEntry } from "../../../model/keys/entry-value.js";
import type { IndexEntry } from "../../../model/keys/index-entries.js";
import { isSameKey } from "../../../model/keys/key-parts.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { readStored } from "../../../state/rows/read-rows.js";

type Store = Pick<ReadView, "kv" | "model" | "limits">;

/** Unique entries that do not belong to a row, and the checks that this is still so. */
export interface OtherOwners {
  readonly entries: ReadonlySet<IndexEntry>;
  readonly checks: readonly AtomicCheck[];
}

const none: OtherOwners = { entries: new Set(), checks: [] };

/**
 * Finds the unique entries that a row should have but that do not point to it. While a unique index
 * is built or has duplicates, its entry may belong to another row or be missing. The checks are
 * needed because a backfill may be about to write the entry. Each unique entry costs one read.
 */
export function findForeignEntries(
  store: Store,
  entries: readonly IndexEntry[],
): OtherOwners | Promise<OtherOwners> {
  const unique = entries.filter(({ index }) => index.unique);
  return unique.length === 0 ? none : readOwners(store, unique);
}

async function readOwners(store: Store, unique: readonly IndexEntry[]): Promise<OtherOwners> {
  const { model } = store;
  const entries = new Set<IndexEntry>();
  const stored = await readStored(
    store,
    unique.map(({ key }) => key),
  );
  const checks = unique.map((entry, position): AtomicCheck => {
    const { value = null, versionstamp = null } = stored[position] ?? {};
    const owner = primaryKeyOfEntry(model, entry.index, value);
    const expected = primaryKeyOfEntry(model, entry.index, entry.value);
    const isOwn = owner !== undefined && expected !== undefined && isSameKey(owner, expected);
    if (!isOwn) entries.add(entry);
    return { key: entry.key, versionstamp };
  });
  return { entries, checks };
}
