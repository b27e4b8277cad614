import type { KvKey, KvKeyPart, KvListedEntry, MaybePromise } from "@keywright/core";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { allReady, whenReady } from "../../promises/when-ready.js";
import type { ReadView } from "../context/read-view.js";
import { type ListedRow, listedRow } from "./listed-row.js";
import { readStored, readWithSchema, type StoredValue } from "./read-rows.js";

/**
 * True if the value of an index entry leads to its row. Otherwise the key does, whose last parts
 * are the primary key.
 */
export function leadsByValue(index: CompiledIndex): boolean {
  return index.unique;
}

/** Returns the entries that lead to a row: those whose value contains a primary key if it must. */
export function entriesThatLead(
  { model }: ReadView,
  index: CompiledIndex,
  entries: readonly KvListedEntry[],
): readonly KvListedEntry[] {
  if (!leadsByValue(index)) return entries;
  return entries.filter(({ value }) => primaryKeyOfEntry(model, index, value) !== undefined);
}

/**
 * Returns what is stored for the rows that entries lead to, in the same order, and undefined for
 * rows that are absent. The entries must have keys of the index. Nothing is decoded of the keys if
 * the database can continue a key with the bytes of another one.
 */
export function readLinkedRows(
  view: ReadView,
  index: CompiledIndex,
  entries: readonly KvListedEntry[],
): MaybePromise<readonly (StoredValue | undefined)[]> {
  const { model, limits } = view;
  return readWithSchema<StoredValue | undefined>(view, () => {
    const { kv } = view;
    const { pages } = kv;
    if (pages !== undefined && !leadsByValue(index)) {
      const read = (some: readonly KvListedEntry[]) =>
        pages.getLinked(some, [model.place], keyStart(index));
      if (entries.length <= limits.keys) return read(entries);
      const reads: MaybePromise<(StoredValue | undefined)[]>[] = [];
      for (let from = 0; from < entries.length; from += limits.keys)
        reads.push(read(entries.slice(from, from + limits.keys)));
      return whenReady(allReady(reads), (found) => found.flat());
    }
    const keys: KvKey[] = [];
    for (const entry of entries) keys.push(rowKey(model, primaryKeyOf(model, index, entry)));
    return readStored({ kv, limits }, keys).then((stored) =>
      stored.map((entry) => (entry.versionstamp === null ? undefined : entry)),
    );
  });
}

/** Returns the row that an entry leads to, by what {@link readLinkedRows} has returned for it. */
export function linkedRow(
  view: ReadView,
  index: CompiledIndex,
  entry: KvListedEntry,
  stored: StoredValue | undefined,
): ListedRow | undefined {
  if (stored === undefined) return undefined;
  const primaryKey = leadsByValue(index) ? primaryKeyOf(view.model, index, entry) : keyStart(index);
  return listedRow(view, entry, stored, primaryKey);
}

/** Returns the position of the primary key in the keys of entries. */
function keyStart({ parts }: CompiledIndex): number {
  return 1 + parts.length;
}

function primaryKeyOf(
  model: CompiledModel,
  index: CompiledIndex,
  { key, value }: KvListedEntry,
): readonly KvKeyPart[] {
  return leadsByValue(index) ? primaryKeyOfEntry(model, index, value)! : key.slice(keyStart(index));
}
