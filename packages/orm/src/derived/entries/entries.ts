import { assertStorable } from "../../model/keys/can-be-stored.js";
import type { IndexChanges, IndexEntry } from "../../model/keys/index-entries.js";
import { whenReady } from "../../promises/when-ready.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { Derived, RowChange } from "../derived.js";
import type { Effects } from "../effects.js";
import { findForeignEntries, type OtherOwners } from "./duplicates/find-foreign-entries.js";
import { refuseRecordedValues } from "./duplicates/refuse-recorded-values.js";
import { resolveReleased } from "./duplicates/resolve-released.js";

/** The entries of indexes. */
export const entries: Derived = {
  name: "entries",
  plan(change, view, effects) {
    const { primaryKey, after } = change;
    const all = change.entries;
    // What there is of a row in a text index is kept by a kind of its own.
    const removed = all.removed.filter(isPlain);
    const added = all.added.filter(isPlain);
    const rewritten = all.rewritten.filter(isPlain);
    if (after !== undefined) {
      assertStorable(view.model, primaryKey, all.added, view.limits.keyBytes);
    }
    const plan = () =>
      whenReady(findForeignEntries(view, [...removed, ...rewritten]), (others) =>
        addWrites(change, { removed, added, rewritten }, view, effects, others),
      );
    return view.snapshot.hasPendingIndex
      ? refuseRecordedValues(view, added, primaryKey).then(plan)
      : plan();
  },
  dependsOn({ snapshot: { maintained, hasPendingIndex } }) {
    if (hasPendingIndex) return undefined;
    const fields: string[] = [];
    for (const { store, keyFields, unmarked } of maintained) {
      if (store !== "pointer" || keyFields === undefined) return undefined;
      fields.push(...keyFields);
      if (unmarked !== undefined) fields.push(unmarked);
    }
    return fields;
  },
  cost: (_, indexes) => ({
    checks: indexes.filter(({ unique }) => unique).length,
    writes: 2 * indexes.length,
  }),
};

function isPlain({ index }: IndexEntry): boolean {
  return index.text === undefined;
}

function addWrites(
  { primaryKey, expiry }: RowChange,
  { removed, added, rewritten }: IndexChanges,
  view: ReadView,
  { checks, claims, writes, upkeep }: Effects,
  others: OtherOwners,
): void {
  checks.push(...others.checks);
  for (const entry of removed) {
    if (!others.entries.has(entry)) writes.push({ type: "delete", key: entry.key });
  }
  for (const entry of added) {
    if (entry.index.unique) claims.push(entry);
    writes.push({ type: "set", key: entry.key, value: entry.value, expiry });
  }
  for (const entry of rewritten) {
    if (others.entries.has(entry)) continue;
    writes.push({ type: "set", key: entry.key, value: entry.value, expiry });
  }
  if (view.snapshot.hasPendingIndex && removed.length > 0) {
    upkeep.push(() => resolveReleased(view.store, removed, primaryKey));
  }
}
