import type { AtomicOperation, KvKey } from "@keywright/core";
import { backfillKey, duplicatesPrefix, readBackfill } from "../../state/catalog/backfill-state.js";
import {
  type CatalogEntry,
  type StoredIndex,
  withFormat,
} from "../../state/catalog/catalog-entry.js";
import { isLeaving } from "../../state/catalog/other-layout.js";
import type { ModelStore } from "../../state/context/model-store.js";
import { deleteJobsPrefix, guardsPrefix } from "../../state/references/guard-keys.js";
import { changeCatalog } from "../../state/run/change-catalog.js";
import { clearPrefixes } from "../../state/run/clear-prefix.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { waitForReaders } from "../build-derived.js";
import { Verification } from "../verify/verification.js";

/**
 * Removes the layout that is not read. After the switch, this is the layout by the previous primary
 * key. If the change of the key is given up, it is the layout by the new one. Writers maintain it
 * until no reader uses it any longer.
 *
 * @returns false if the signal stopped it. The next call resumes with what is left.
 */
export async function removeLayout(context: ModelStore, run: MigrationRun): Promise<boolean> {
  const { kv, catalog, model } = context;
  await catalog.reload();
  if (catalog.snapshot.entry.otherLayout === undefined) return true;
  if (isLeaving(catalog.snapshot.entry) && !(await waitForReaders(context, run))) return false;
  const running = await readBackfill(kv, model);
  if (running !== null) await Verification.forget(context, run, running.id);
  const drop = (entry: CatalogEntry, operation: AtomicOperation) => {
    if (isDropping(entry)) return undefined;
    operation.delete(backfillKey(model));
    return withOtherIndexes(entry, (index) => ({ ...index, state: "dropping" }));
  };
  await changeCatalog(context, run.lease, drop, true);
  for (;;) {
    const { entry } = catalog.snapshot;
    if (entry.otherLayout === undefined) return true;
    const isClear = await clearLayout(context, run, entry);
    if (isClear === "stopped") return false;
    if (!isClear) {
      await catalog.reload();
      continue;
    }
    const remove = ({ otherLayout: _, ...rest }: CatalogEntry) =>
      withFormat(withOtherIndexes({ ...rest, format: 1 }, () => undefined));
    await changeCatalog(context, run.lease, remove, true);
  }
}

function isDropping({ indexes }: CatalogEntry): boolean {
  return Object.values(indexes).every(({ isOther, state }) => !isOther || state === "dropping");
}

function withOtherIndexes(
  entry: CatalogEntry,
  change: (index: StoredIndex) => StoredIndex | undefined,
): CatalogEntry {
  const indexes = Object.entries(entry.indexes).flatMap(([name, index]) => {
    const changed = index.isOther ? change(index) : index;
    return changed === undefined ? [] : [[name, changed] as const];
  });
  return { ...entry, indexes: Object.fromEntries(indexes) };
}

/** Returns false if the catalog has changed since the layout was found. */
async function clearLayout(
  context: ModelStore,
  run: MigrationRun,
  { indexes, otherLayout }: CatalogEntry,
): Promise<boolean | "stopped"> {
  const prefixes: KvKey[] = [];
  for (const [name, { isOther, prefix }] of Object.entries(indexes)) {
    if (!isOther) continue;
    prefixes.push([prefix]);
    if (prefix === otherLayout?.place)
      prefixes.push(guardsPrefix(prefix), [...deleteJobsPrefix, prefix]);
    prefixes.push(duplicatesPrefix(context.model, name));
  }
  // Other entries under the place of the rows, which have longer keys, stay.
  const keyLengths =
    otherLayout && new Map([[otherLayout.place, 1 + otherLayout.primaryKey.length]]);
  return await clearPrefixes(context, run, prefixes, { keyLengths });
}
