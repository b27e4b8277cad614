import type { AtomicCheck } from "@keywright/core";
import type { TableContext } from "../../context/table-context.js";
import { primaryKeyOfEntry } from "../../indexes/entry-value.js";
import type { IndexEntry } from "../../indexes/index-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";

/** Which entries are not a row's own, and what must hold for that at the commit. */
export interface OtherOwners {
  readonly entries: ReadonlySet<IndexEntry>;
  readonly checks: readonly AtomicCheck[];
}

const none: OtherOwners = { entries: new Set(), checks: [] };

/**
 * Tells which entries that a row should have are not its own. Unique ones may belong to another row or not be there, while a
 * unique index is built or has duplicates. The checks say that it still is so at the commit: a backfill may be about to
 * write them. One read for each unique entry.
 */
export function entriesOfOthers(
  context: TableContext,
  entries: readonly IndexEntry[],
): OtherOwners | Promise<OtherOwners> {
  if (!entries.some(isUnique)) return none;
  return readOwners(context, entries.filter(isUnique));
}

function isUnique({ index }: IndexEntry): boolean {
  return index.unique;
}

async function readOwners(
  { kv, model, limits }: TableContext,
  unique: readonly IndexEntry[],
): Promise<OtherOwners> {
  const others = new Set<IndexEntry>();
  const checks: AtomicCheck[] = [];
  for (let from = 0; from < unique.length; from += limits.keys) {
    const some = unique.slice(from, from + limits.keys);
    const [only] = some;
    const stored =
      only !== undefined && some.length === 1
        ? [await kv.get(only.key)]
        : await kv.getMany<unknown[]>(some.map((entry) => entry.key));
    for (const [position, entry] of some.entries()) {
      const { value = null, versionstamp = null } = stored[position] ?? {};
      checks.push({ key: entry.key, versionstamp });
      const owner = primaryKeyOfEntry(model, entry.index, value);
      const self = primaryKeyOfEntry(model, entry.index, entry.value);
      if (owner === undefined || self === undefined || !isSameKey(owner, self)) others.add(entry);
    }
  }
  return { entries: others, checks };
}
