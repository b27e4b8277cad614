import type { AnyRow } from "../../model/compiled-model.js";
import { assertStorable, canBeStored } from "../../model/keys/can-be-stored.js";
import { expectedEntries } from "../../model/keys/expected-entries.js";
import { type IndexEntry, indexChanges, indexEntries } from "../../model/keys/index-entries.js";
import { primaryKeyInRow, primaryKeyOf } from "../../model/keys/primary-key.js";
import { whenReady } from "../../promises/when-ready.js";
import type { OtherLayout } from "../../state/catalog/other-layout.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { Derived } from "../derived.js";
import { findForeignEntries } from "../entries/duplicates/find-foreign-entries.js";

/**
 * The entries of a row in the indexes of the other layout, while the primary key changes. The key
 * index, which keeps two rows from having the same other key, is one of the indexes of the rows.
 * Here, no unique value is checked: the commit takes the same values in the indexes that are read.
 */
export const layout: Derived = {
  name: "layout",
  isKept: ({ snapshot: { other } }) => other !== undefined && other.maintained.length > 0,
  plan({ before, after, expiry }, view, { checks, writes }) {
    const other = view.snapshot.other!;
    const written = after === undefined ? [] : entriesToWrite(view, other, after.row);
    const stored = before === undefined ? [] : storedEntries(view, other, before.row);
    const { removed } = indexChanges(stored, written);
    const store = { kv: view.kv, limits: view.limits, model: other.model };
    return whenReady(findForeignEntries(store, removed), (foreign) => {
      checks.push(...foreign.checks);
      for (const entry of removed) {
        if (!foreign.entries.has(entry)) writes.push({ type: "delete", key: entry.key });
      }
      for (const { key, value } of written) writes.push({ type: "set", key, value, expiry });
    });
  },
};

function entriesToWrite(
  { limits }: ReadView,
  { model, maintained }: OtherLayout,
  row: AnyRow,
): IndexEntry[] {
  const primaryKey = primaryKeyOf(model, row);
  const entries = indexEntries(model, maintained, row, primaryKey);
  assertStorable(model, primaryKey, entries, limits.keyBytes);
  return entries;
}

function storedEntries(
  { limits }: ReadView,
  { model, maintained }: OtherLayout,
  row: AnyRow,
): IndexEntry[] {
  const primaryKey = primaryKeyInRow(model, row);
  if (primaryKey === undefined) return [];
  const entries = expectedEntries(model, maintained, row, primaryKey);
  return entries.filter(({ key }) => canBeStored(key, limits.keyBytes));
}
