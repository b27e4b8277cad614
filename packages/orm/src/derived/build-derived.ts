import type { KvKey } from "@keywright/core";
import { sleep } from "@keywright/core/platform";
import type { ModelStore } from "../state/context/model-store.js";
import type { RelatedStore } from "../state/context/table-context.js";
import { clearPrefixes } from "../state/run/clear-prefix.js";
import type { MigrationRun } from "../state/run/migration-run.js";
import { copiesMaintenance } from "./copies/copies-maintenance.js";
import { countersMaintenance } from "./counters/counters-maintenance.js";
import { entriesMaintenance } from "./entries/entries-maintenance.js";
import type { BuildDerivedOptions, Drop, Maintenance } from "./maintenance.js";
import { textMaintenance } from "./text/text-maintenance.js";

/**
 * The kinds that migrations plan, build, remove and verify, in the order in which they are built.
 */
export const maintained: readonly Maintenance[] = [
  copiesMaintenance,
  entriesMaintenance,
  countersMaintenance,
  textMaintenance,
];

/**
 * Builds everything that is not built yet, and removes what each build has replaced.
 *
 * @returns false if the signal stopped it. The next call resumes.
 */
export async function buildDerived(
  store: RelatedStore,
  run: MigrationRun,
  options: BuildDerivedOptions,
): Promise<boolean> {
  for (const kind of maintained) {
    if (!(await kind.build(store, run, options))) return false;
    if (!(await dropDerived(store, run))) return false;
  }
  return true;
}

/**
 * Removes what the catalog lists as dropping, with all keys. Then it is absent; the catalog keeps
 * the definition of an absent index. The program need not have the index. No program writes to what
 * is dropping, because the catalog changed when it became so.
 *
 * Programs do not read the catalog before each read of an index, but they read it again after a
 * short time. What they may read is therefore disabled first: writers maintain it until all
 * programs have read the catalog again. Then it is dropping.
 *
 * @returns false if the signal stopped it; the next call resumes with what is left.
 */
export async function dropDerived(store: ModelStore, run: MigrationRun): Promise<boolean> {
  const { model, catalog } = store;
  await catalog.reload();
  let drop = nextDrop(store);
  if (drop === undefined) return true;
  const meter = run.meter(model.name, indexesWithDrops(store));
  meter.start("dropping", 0);
  let done = 0;
  const onKeys = (keys: number) => {
    done += keys;
    meter.advance(done);
  };
  for (; drop !== undefined; drop = nextDrop(store)) {
    if (run.signal?.aborted) return false;
    if (drop.isRead && !(await waitForReaders(store, run))) return false;
    const isClear = await clearPrefixes(store, run, prefixesOf(drop), { onKeys });
    if (isClear === "stopped") return false;
    if (isClear) await finishDrop(store, run, drop);
    await catalog.reload();
  }
  return true;
}

function nextDrop(store: ModelStore): Drop | undefined {
  for (const kind of maintained) {
    const drop = kind.nextDrop?.(store);
    if (drop !== undefined) return drop;
  }
  return undefined;
}

/** Returns the names of the indexes that {@link dropDerived} removes, wholly or in part. */
function indexesWithDrops({ catalog }: ModelStore): string[] {
  const { indexes } = catalog.snapshot.entry;
  return Object.keys(indexes).filter((name) => {
    const { state, leaving, leftPlaces } = indexes[name]!;
    return state === "dropping" || leaving !== undefined || leftPlaces !== undefined;
  });
}

/** Waits until no program reads by an older version of the catalog entry. */
export async function waitForReaders({ catalog }: ModelStore, run: MigrationRun): Promise<boolean> {
  const until = performance.now() + catalog.readerGraceMs;
  while (performance.now() < until) {
    if (run.signal?.aborted) return false;
    await sleep(catalog.readerGraceMs / 8);
    await run.afterBatch(0);
  }
  return true;
}

function prefixesOf({ index, prefixes }: Drop): readonly KvKey[] {
  if (index === undefined) return prefixes;
  return [...maintained.flatMap((kind) => kind.placesOfIndex?.(index) ?? []), ...prefixes];
}

async function finishDrop(
  { kv, catalog }: ModelStore,
  run: MigrationRun,
  { index, keys = [], removeFrom }: Drop,
): Promise<void> {
  const { entry, check } = catalog.snapshot;
  let changed = removeFrom(entry);
  if (index !== undefined) {
    for (const kind of maintained) changed = kind.withoutIndex?.(changed, index.name) ?? changed;
  }
  const operation = kv.atomic().check(check).set(check.key, changed);
  for (const key of keys) operation.delete(key);
  await run.lease.commit(operation);
}
