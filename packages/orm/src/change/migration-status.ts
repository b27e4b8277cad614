import type { Kv, Progress } from "@keywright/core";
import { type CounterStatus, readCounterStatuses } from "../derived/counters/counting-state.js";
import { findDuplicates } from "../derived/entries/duplicates/list-duplicates.js";
import { readUnreported } from "../derived/entries/fill/unreported-rows.js";
import type { CompiledModel } from "../model/compiled-model.js";
import {
  readBackfill,
  storedProgress,
  type UnindexedRows,
  type UnreportedRows,
} from "../state/catalog/backfill-state.js";
import type { IndexState, RunningTransform } from "../state/catalog/catalog-entry.js";
import { type AnyDatabase, tableContexts } from "../state/context/any-database.js";
import type { TableContext } from "../state/context/table-context.js";
import { hasHolderEnded, readLease } from "../state/run/lease.js";
import { findFailedRows } from "./transform/failed-rows.js";
import { readTransformState } from "./transform/transform-state.js";

/** The state of a database's migration. It can be read at any time. */
export interface MigrationStatus {
  /** The runner that holds the lease; null if there is none. */
  readonly runner: RunnerStatus | null;
  readonly models: readonly ModelStatus[];
}

/** A runner that works on the database's schema. */
export interface RunnerStatus {
  /** Identifies the run. */
  readonly id: string;
  readonly host: string;
  readonly since: Date;
  /** False if the lease has expired or its runner has ended. Then another runner may take over. */
  readonly alive: boolean;
}

/** The state of a model's migration. */
export interface ModelStatus {
  readonly model: string;
  /** By name: the indexes of the program, and those that only the database has. */
  readonly indexes: Readonly<Record<string, IndexStatus>>;
  /** The counters by name: `""` counts all rows, every other name is that of an index. */
  readonly counters: Readonly<Record<string, CounterStatus>>;
  /** The transform (a change of all rows) that is under way; null if there is none. */
  readonly transform: TransformStatus | null;
}

export interface IndexStatus {
  readonly state: IndexState;
  /** True if the program has an index of this name. */
  readonly declared: boolean;
  /** The progress of the build; null if the index is not being built. */
  readonly progress: Progress<"building"> | null;
  /** Rows that could not enter the index because others have their values, at most 1,000. */
  readonly duplicates: number;
  /**
   * The rows that could not be indexed by the running backfill of this index, or by an ended
   * backfill whose rows no run has returned yet. One backfill may build several indexes: `indexes`
   * of each row names those that cannot hold it.
   */
  readonly unindexed: UnindexedRows | null;
}

export interface TransformStatus extends RunningTransform {
  /** Null before the first batch. */
  readonly progress: Progress<"transforming"> | null;
  /** The number of rows that could not be changed, at most 1,000. */
  readonly failed: number;
}

const maxCounted = 1000;

/**
 * Reads the state of a migration. While a migration runs, each model's state may be from a
 * different moment.
 */
export async function migrationStatus(database: AnyDatabase): Promise<MigrationStatus> {
  const tables = [...tableContexts(database).values()];
  const [firstTable] = tables;
  const models: ModelStatus[] = [];
  for (const context of tables) models.push(await modelStatus(database, context));
  return { runner: firstTable === undefined ? null : await runnerStatus(firstTable.kv), models };
}

async function runnerStatus(kv: Kv): Promise<RunnerStatus | null> {
  const value = await readLease(kv);
  if (value === null) return null;
  const { runner: id, host, takenAt: since, expiresAt } = value;
  return { id, host, since, alive: !hasHolderEnded(kv, value) && expiresAt > new Date() };
}

async function modelStatus(database: AnyDatabase, context: TableContext): Promise<ModelStatus> {
  const { kv, model, catalog } = context;
  await catalog.reload();
  const { snapshot } = catalog;
  const { entry } = snapshot;
  const backfill = await readBackfill(kv, model);
  const { backfills } = await readUnreported([context]);
  const declared = new Map(model.indexes.map((index) => [index.name, index]));
  const { keyIndex, model: layout } = snapshot.other ?? {};
  const known = new Set([...declared.keys(), ...(layout?.indexes ?? []).map(({ name }) => name)]);
  if (keyIndex !== undefined) known.add(keyIndex.name);
  const indexes: Record<string, IndexStatus> = {};
  for (const name of new Set([...declared.keys(), ...Object.keys(entry.indexes)])) {
    const index = declared.get(name);
    const isFilled = backfill?.indexes.includes(name) === true;
    indexes[name] = {
      state: index ? snapshot.stateOf(index) : (entry.indexes[name]?.state ?? "absent"),
      declared: index !== undefined,
      progress: isFilled ? storedProgress("building", backfill) : null,
      duplicates: known.has(name) ? await countDuplicates(database, model, name) : 0,
      unindexed: isFilled ? (backfill.unindexed ?? null) : unreportedOf(backfills, name),
    };
  }
  const counters = await readCounterStatuses(kv, model, entry);
  const transform = await transformStatus(database, context);
  return { model: model.name, indexes, counters, transform };
}

function unreportedOf(backfills: readonly UnreportedRows[], index: string): UnindexedRows | null {
  return backfills.findLast(({ indexes }) => indexes.includes(index))?.unindexed ?? null;
}

async function transformStatus(
  database: AnyDatabase,
  { kv, model, catalog }: TableContext,
): Promise<TransformStatus | null> {
  const { transform } = catalog.snapshot.entry;
  if (transform === undefined) return null;
  const value = await readTransformState(kv, model);
  const failed = await findFailedRows(database, { model: model.name, take: maxCounted });
  return {
    ...transform,
    progress: value && storedProgress("transforming", value),
    failed: failed.items.length,
  };
}

/** Leaves out rows that have expired or changed since they were recorded. */
async function countDuplicates(
  database: AnyDatabase,
  { name }: CompiledModel,
  index: string,
): Promise<number> {
  const { items } = await findDuplicates(database, { model: name, index, take: maxCounted });
  return items.reduce((count, { ids }) => count + ids.length - 1, 0);
}
