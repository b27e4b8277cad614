import { setTimeout as sleep } from "node:timers/promises";
import type { KvKey } from "@keywright/core";
import { duplicatesPrefix } from "../../catalog/backfill-state.js";
import {
  type CatalogEntry,
  isMaintained,
  rowCounter,
  type StoredIndex,
} from "../../catalog/catalog-entry.js";
import type { TableContext } from "../../context/table-context.js";
import { ownPrefix } from "../../model/compiled-model.js";
import { ProgressMeter } from "../run/migration-progress.js";
import type { MigrationRun } from "../run/migration-run.js";

/** So many keys are deleted at a time at the most. */
const maxBatchKeys = 500;

/** Something that is dropped: where its keys are, and what is left of it in the catalog. */
interface Dropped {
  /** The index's name; undefined for a counter alone. */
  readonly index: string | undefined;
  readonly prefixes: readonly KvKey[];
  readonly keys: readonly KvKey[];
  readonly after: (entry: CatalogEntry) => CatalogEntry;
}

/**
 * Removes the entries of a model's indexes that are dropping, with their counters and what is written down of their
 * duplicates, and the counters that are dropping by themselves. Then each is absent: the catalog keeps the definition of an
 * index that was. Nobody can write any of it meanwhile, since the catalog changed when it began to drop.
 *
 * Programs look at the catalog again before they read an index, not each time but often: nothing is removed before all that
 * read it have done so.
 *
 * What is dropped need not be an index of the program.
 *
 * @returns false where the signal stopped it; the next call goes on with what is left.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function dropIndexes(context: TableContext, run: MigrationRun): Promise<boolean> {
  const { model, catalog } = context;
  await catalog.reload();
  const first = nextDropped(context);
  if (first === undefined) return true;
  const { indexes } = catalog.snapshot.entry;
  const names = Object.keys(indexes).filter((name) => indexes[name]?.state === "dropping");
  const meter = new ProgressMeter(model.name, names, run.onProgress);
  meter.start("dropping", 0, undefined);
  if (!(await readersHaveLeft(context, run))) return false;
  let done = 0;
  const onKeys = (keys: number) => {
    done += keys;
    meter.advance(done, undefined);
  };
  for (
    let dropped: Dropped | undefined = first;
    dropped !== undefined;
    dropped = nextDropped(context)
  ) {
    if (run.signal?.aborted) return false;
    const isClear = await clearAll(context, run, dropped, onKeys);
    if (isClear === "stopped") return false;
    if (isClear) await forget(context, run, dropped);
    await catalog.reload();
  }
  return true;
}

/** Waits until nobody reads by a catalog that was read before this one was; false where the signal ended it. */
async function readersHaveLeft({ catalog }: TableContext, run: MigrationRun): Promise<boolean> {
  const until = performance.now() + catalog.readersLeaveWithin;
  while (performance.now() < until) {
    if (run.signal?.aborted) return false;
    await sleep(catalog.readersLeaveWithin / 8);
    await run.took(0);
  }
  return true;
}

/** The first thing that the catalog says is dropping. */
function nextDropped({ model, catalog }: TableContext): Dropped | undefined {
  const { entry } = catalog.snapshot;
  for (const [name, index] of Object.entries(entry.indexes)) {
    if (index.state !== "dropping") continue;
    const isShared = isPrefixUsed(entry, name, index);
    const prefixes = [counterPrefix(index.prefix), duplicatesPrefix(model, name)];
    return {
      index: name,
      prefixes: isShared ? [duplicatesPrefix(model, name)] : [[index.prefix], ...prefixes],
      keys: [],
      after: (now) => withoutCounter(tombstone(now, name), name),
    };
  }
  for (const [name, state] of Object.entries(entry.counters ?? {})) {
    if (state !== "dropping") continue;
    const isOfRows = name === rowCounter;
    const prefix = Object.hasOwn(entry.indexes, name) ? entry.indexes[name]?.prefix : undefined;
    return {
      index: undefined,
      prefixes: isOfRows || prefix === undefined ? [] : [counterPrefix(prefix)],
      keys: isOfRows ? [counterPrefix(model.prefix)] : [],
      after: (now) => withoutCounter(now, name),
    };
  }
  return undefined;
}

/** Whether another index of the model, under another name, has its entries in the same place. */
function isPrefixUsed({ indexes }: CatalogEntry, name: string, { prefix }: StoredIndex): boolean {
  return Object.entries(indexes).some(
    ([other, index]) => other !== name && index.prefix === prefix && isMaintained(index.state),
  );
}

function counterPrefix(prefix: string): KvKey {
  return [ownPrefix, "count", prefix];
}

function tombstone(entry: CatalogEntry, name: string): CatalogEntry {
  const index = entry.indexes[name];
  if (index === undefined) return entry;
  return { ...entry, indexes: { ...entry.indexes, [name]: { ...index, state: "absent" } } };
}

function withoutCounter(entry: CatalogEntry, name: string): CatalogEntry {
  const { counters, ...rest } = entry;
  if (counters === undefined) return entry;
  const left = Object.entries(counters).filter(([other]) => other !== name);
  return left.length === 0 ? rest : { ...rest, counters: Object.fromEntries(left) };
}

/** Deletes all keys of what is dropped; false where the catalog changed meanwhile. */
async function clearAll(
  context: TableContext,
  run: MigrationRun,
  { prefixes }: Dropped,
  onKeys: (keys: number) => void,
): Promise<boolean | "stopped"> {
  for (const prefix of prefixes) {
    const isClear = await clearPrefix(context, run, prefix, onKeys);
    if (isClear !== true) return isClear;
  }
  return true;
}

/**
 * Deletes all keys with a prefix, in batches, while the catalog stays as it is.
 *
 * @returns false where that changed, `"stopped"` by the signal.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function clearPrefix(
  { kv, limits, catalog }: TableContext,
  run: MigrationRun,
  prefix: KvKey,
  onKeys: (keys: number) => void = () => undefined,
): Promise<boolean | "stopped"> {
  const { check } = catalog.snapshot;
  const most = Math.max(1, Math.min(maxBatchKeys, run.batchRows, limits.mutations - 1));
  for (;;) {
    if (run.signal?.aborted) return "stopped";
    const keys: KvKey[] = [];
    const list = kv.list({ prefix }, { limit: most, batchSize: most });
    for await (const { key } of list) keys.push(key);
    if (keys.length === 0) return true;
    const operation = kv.atomic().check(check);
    for (const key of keys) operation.delete(key);
    if (!(await run.lease.commit(operation)).ok) return false;
    onKeys(keys.length);
    await run.took(keys.length);
  }
}

/** Says in the catalog that it is gone, if that has not changed. */
async function forget(
  { kv, catalog }: TableContext,
  run: MigrationRun,
  dropped: Dropped,
): Promise<void> {
  const { entry, check } = catalog.snapshot;
  const operation = kv.atomic().check(check).set(check.key, dropped.after(entry));
  for (const key of dropped.keys) operation.delete(key);
  await run.lease.commit(operation);
}
