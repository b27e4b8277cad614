import { setTimeout as sleep } from "node:timers/promises";
import type { KvKey } from "@keywright/core";
import { duplicatesPrefix } from "../catalog/backfill-state.js";
import {
  type CatalogEntry,
  countersOfIndex,
  isMaintained,
  placeOf,
  type StoredIndex,
  storedIndexOf,
  withoutCounter,
  withoutLeaving,
} from "../catalog/catalog-entry.js";

import type { ModelStore } from "../context/model-store.js";
import { parseCounterName, rowCounter } from "../model/aggregates/counter.js";
import { systemPrefix } from "../model/compiled-model.js";
import { clearPrefix } from "../run/clear-prefix.js";
import type { MigrationRun } from "../run/migration-run.js";

interface DropTarget {
  readonly index: string | undefined;
  readonly prefixes: readonly KvKey[];
  readonly keys: readonly KvKey[];
  readonly removeFrom: (entry: CatalogEntry) => CatalogEntry;
  /** True if programs read the entries until this is committed. */
  readonly isRead?: true;
}

/**
 * Removes the entries of the indexes that the catalog lists as dropping, with their counters and
 * duplicate records, and the counters that are dropping by themselves. Then each of them is absent;
 * the catalog keeps the definition of an absent index. The program need not have the index. No
 * program can write to them meanwhile, because the catalog changed when they became dropping.
 *
 * Programs do not read the catalog before each read of an index, but they read it again after a
 * short time. Nothing is removed until all programs that read an index have done so.
 *
 * @returns false if the signal stopped it; the next call resumes with what is left.
 */
export async function dropIndexes(context: ModelStore, run: MigrationRun): Promise<boolean> {
  const { model, catalog } = context;
  await catalog.reload();
  const first = nextTarget(context);
  if (first === undefined) return true;
  const { indexes } = catalog.snapshot.entry;
  const names = Object.keys(indexes).filter((name) => {
    const { state, leaving, leftPlaces } = indexes[name]!;
    return state === "dropping" || leaving !== undefined || leftPlaces !== undefined;
  });
  const meter = run.meter(model.name, names);
  meter.start("dropping", 0);
  if (!(await waitForReaders(context, run))) return false;
  let done = 0;
  const onKeys = (keys: number) => {
    done += keys;
    meter.advance(done);
  };
  for (
    let target: DropTarget | undefined = first;
    target !== undefined;
    target = nextTarget(context)
  ) {
    if (run.signal?.aborted) return false;
    const isClear = await clearAll(context, run, target, onKeys);
    if (isClear === "stopped") return false;
    if (isClear) await finishDrop(context, run, target);
    await catalog.reload();
    if (target.isRead && !(await waitForReaders(context, run))) return false;
  }
  return true;
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

function nextTarget({ model, catalog }: ModelStore): DropTarget | undefined {
  const { entry } = catalog.snapshot;
  for (const [name, index] of Object.entries(entry.indexes)) {
    if (index.leaving !== undefined) {
      // Writers maintain it until all programs know that it is no longer to be read.
      const change = index.leaving.state === "disabled" ? withoutLeaving : withDisabledLeaving;
      return {
        index: name,
        prefixes: [],
        keys: [],
        isRead: true,
        removeFrom: (current) => withIndex(current, name, change),
      };
    }
    const [left] = index.leftPlaces ?? [];
    if (left !== undefined) {
      return {
        index: name,
        prefixes: [[left], ...(hasDuplicates(index) ? [] : [duplicatesPrefix(model, name)])],
        keys: [],
        removeFrom: (current) => {
          return withIndex(current, name, (one) => withoutLeftPlace(one, left));
        },
      };
    }
    if (index.state !== "dropping") continue;
    const isShared = isPlaceUsed(entry, name, index);
    const counters = countersOfIndex(entry, name);
    const prefixes = [
      counterPrefix(index.prefix),
      ...counters.map((counter) => counterPrefix(index.prefix, counter)),
      duplicatesPrefix(model, name),
    ];
    return {
      index: name,
      prefixes: isShared ? [duplicatesPrefix(model, name)] : [[placeOf(index)], ...prefixes],
      keys: [],
      removeFrom: (current) => counters.reduce(withoutCounter, withAbsentIndex(current, name)),
    };
  }
  for (const [name, state] of Object.entries(entry.counters ?? {})) {
    if (state !== "dropping") continue;
    const isOfRows = name === rowCounter;
    const { index } = parseCounterName(name);
    const prefix = index === undefined ? model.prefix : storedIndexOf(entry, index)?.prefix;
    return {
      index: undefined,
      prefixes: isOfRows || prefix === undefined ? [] : [counterPrefix(prefix, name)],
      keys: index === undefined ? [counterPrefix(model.prefix, name)] : [],
      removeFrom: (current) => withoutCounter(current, name),
    };
  }
  return undefined;
}

/** True if the index, or the definition with which it is being rebuilt, may have duplicates. */
function hasDuplicates({ state, next }: StoredIndex): boolean {
  return state === "unique-pending" || isMaintained(next?.state ?? "absent");
}

function isPlaceUsed({ indexes }: CatalogEntry, name: string, dropped: StoredIndex): boolean {
  return Object.entries(indexes).some(([other, index]) => {
    const used = [index, index.next, index.leaving].flatMap((one) => one ?? []);
    return (
      other !== name &&
      used.some((one) => placeOf(one) === placeOf(dropped) && isMaintained(one.state))
    );
  });
}

/** Returns the prefix of the counters of an index, or of a model, by the name of a counter. */
function counterPrefix(prefix: string, counter = rowCounter): KvKey {
  const { sum } = parseCounterName(counter);
  return [systemPrefix, "count", sum === undefined ? prefix : `${prefix} ${sum}`];
}

function withoutLeftPlace({ leftPlaces = [], ...index }: StoredIndex, place: string): StoredIndex {
  const others = leftPlaces.filter((other) => other !== place);
  return others.length === 0 ? index : { ...index, leftPlaces: others };
}

function withDisabledLeaving({ leaving, ...index }: StoredIndex): StoredIndex {
  return leaving === undefined ? index : { ...index, leaving: { ...leaving, state: "disabled" } };
}

function withAbsentIndex(entry: CatalogEntry, name: string): CatalogEntry {
  return withIndex(entry, name, (index) => ({ ...index, state: "absent" }));
}

function withIndex(
  entry: CatalogEntry,
  name: string,
  change: (index: StoredIndex) => StoredIndex,
): CatalogEntry {
  const index = storedIndexOf(entry, name);
  if (index === undefined) return entry;
  return { ...entry, indexes: { ...entry.indexes, [name]: change(index) } };
}

/** Returns false if the catalog has changed meanwhile. */
async function clearAll(
  context: ModelStore,
  run: MigrationRun,
  { prefixes }: DropTarget,
  onKeys: (keys: number) => void,
): Promise<boolean | "stopped"> {
  for (const prefix of prefixes) {
    const isClear = await clearPrefix(context, run, prefix, { onKeys });
    if (isClear !== true) return isClear;
  }
  return true;
}

async function finishDrop(
  { kv, catalog }: ModelStore,
  run: MigrationRun,
  target: DropTarget,
): Promise<void> {
  const { entry, check } = catalog.snapshot;
  const operation = kv.atomic().check(check).set(check.key, target.removeFrom(entry));
  for (const key of target.keys) operation.delete(key);
  await run.lease.commit(operation);
}
