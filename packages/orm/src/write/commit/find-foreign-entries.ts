import type { AtomicCheck } from "@keywright/core";
import type { TableContext } from "../../context/table-context.js";
import { primaryKeyOfEntry } from "../../indexes/entry-value.js";
import type { IndexEntry } from "../../indexes/index-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";

/**
 * Unique entries that do not belong to the row, and the checks that this is still so at the commit.
 */
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
    const chunk = unique.slice(from, from + limits.keys);
    const [only] = chunk;
    const stored =
      only !== undefined && chunk.length === 1
        ? [await kv.get(only.key)]
        : await kv.getMany<unknown[]>(chunk.map((entry) => entry.key));
    for (const [position, entry] of chunk.entries()) {
      const { value = null, versionstamp = null } = stored[position] ?? {};
      checks.push({ key: entry.key, versionstamp });
      const owner = primaryKeyOfEntry(model, entry.index, value);
      const expectedOwner = primaryKeyOfEntry(model, entry.index, entry.value);
      if (owner === undefined || expectedOwner === undefined || !isSameKey(owner, expectedOwner))
        others.add(entry);
    }
  }
  return { entries: others, checks };
}
