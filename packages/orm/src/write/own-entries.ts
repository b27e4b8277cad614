import type { AtomicCheck } from "@keywright/core";
import { primaryKeyOfEntry } from "../indexes/entry-value.js";
import type { IndexEntry } from "../indexes/index-entries.js";
import { isSameKey } from "../indexes/key-parts.js";
import type { TableContext } from "../query/table-context.js";

/** Entries that are a row's own, and what must hold for that at the commit. */
export interface OwnEntries {
  readonly entries: ReadonlySet<IndexEntry>;
  readonly checks: readonly AtomicCheck[];
}

/**
 * Tells which entries that a row should have are its own. Unique ones may belong to another row or not be there, while a
 * unique index is built or has duplicates. The checks say that it still is so at the commit: a backfill may be about to
 * write them. One read for each unique entry.
 */
export function ownEntries(
  context: TableContext,
  entries: readonly IndexEntry[],
): OwnEntries | Promise<OwnEntries> {
  const unique = entries.filter((entry) => entry.index.unique);
  return unique.length === 0
    ? { entries: new Set(entries), checks: [] }
    : withoutOthers(context, entries, unique);
}

async function withoutOthers(
  { kv, model, limits }: TableContext,
  entries: readonly IndexEntry[],
  unique: readonly IndexEntry[],
): Promise<OwnEntries> {
  const own = new Set(entries);
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
      if (owner === undefined || self === undefined || !isSameKey(owner, self)) own.delete(entry);
    }
  }
  return { entries: own, checks };
}
