import {
  type Duplicate,
  duplicateKey,
  duplicatesOfValue,
  duplicatesPrefix,
} from "../../catalog/backfill-state.js";
import type { TableContext } from "../../context/table-context.js";
import type { IndexEntry } from "../../indexes/index-entries.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import type { RowChange } from "./plan-change.js";
import { type Commit, makeReadable, resolveDuplicate } from "./resolve-duplicates.js";

/** So many duplicates one write looks at, beside those of the values that it has set free. */
const mostOthers = 100;

const commit: Commit = (operation) => operation.commit();

/**
 * Looks after unique indexes that wait for their last duplicate to go, behind a write that set some of their values free:
 * a row that can have one of them gets it, and an index without duplicates goes readable. Within a transaction that is
 * done behind its commit.
 *
 * It is no part of the write, which is done. Where it fails, or the program dies before it, the next write that sets a value
 * of the index free does it, or the next run of a migration.
 */
export async function settleDuplicates(
  context: TableContext,
  { primaryKey, released }: Pick<RowChange, "primaryKey" | "released">,
): Promise<void> {
  const { catalog, transaction } = context;
  const { snapshot } = catalog;
  const entries = released.filter(({ index }) => snapshot.stateOf(index) === "unique-pending");
  if (entries.length === 0) return;
  const settle = async () => {
    try {
      const table = { ...context, kv: catalog.database, transaction: undefined };
      for (const entry of entries) await settleValue(table, entry, primaryKey);
      for (const index of new Set(entries.map((entry) => entry.index))) {
        await settleFirst(table, index);
      }
    } catch {
      // The write itself has not failed.
    }
  };
  if (transaction === undefined) await settle();
  else transaction.afterCommit(settle);
}

/** Sees to a value that a row has given up, which was kept out with it or was in another's way. */
async function settleValue(
  context: TableContext,
  { index, key }: IndexEntry,
  primaryKey: Duplicate["primaryKey"],
): Promise<void> {
  const { kv, model } = context;
  const value = key.slice(1);
  const own: Duplicate = { model: model.name, index: index.name, value, primaryKey };
  const { versionstamp } = await kv.get(duplicateKey(model, own));
  if (versionstamp !== null) await resolveDuplicate(context, index, own, commit);
  const prefix = duplicatesOfValue(model, index.name, value);
  for await (const { value: duplicate } of kv.list<Duplicate>({ prefix })) {
    // Where one row has the value, no other can.
    if (!(await resolveDuplicate(context, index, duplicate, commit))) return;
  }
}

/** Goes on to the first duplicate that is one still, and makes the index readable where there is none. */
async function settleFirst(context: TableContext, index: CompiledIndex): Promise<void> {
  const { kv, model } = context;
  const selector = { prefix: duplicatesPrefix(model, index.name) };
  for await (const { value: duplicate } of kv.list<Duplicate>(selector, { limit: mostOthers })) {
    if (!(await resolveDuplicate(context, index, duplicate, commit))) return;
  }
  const { done } = await kv.list(selector, { limit: 1 }).next();
  if (done === true) await makeReadable(context, index, commit);
}
