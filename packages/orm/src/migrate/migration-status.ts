import type { Kv, KvKey } from "@keywright/core";
import {
  type BackfillState,
  backfillKey,
  duplicatesPrefix,
  type UnindexedRows,
  type UnreportedRows,
} from "../catalog/backfill-state.js";
import type { CatalogEntry, IndexState, RunningTransform } from "../catalog/catalog-entry.js";
import { type CountingState, countingKey } from "../catalog/counting-state.js";
import { type AnyDatabase, tableContexts } from "../context/any-database.js";
import type { TableContext } from "../context/table-context.js";
import type { IndexProgress } from "../errors/schema-errors.js";
import type { CompiledModel } from "../model/compiled-model.js";
import { readUnreported } from "./build/unreported-rows.js";
import { isDead, leaseKey, type StoredLease } from "./run/lease.js";
import { failedRowsPrefix } from "./transform/failed-rows.js";
import { type TransformState, transformStateKey } from "./transform/transform-state.js";

/** What a database says of its migration, and nobody need be at work. */
export interface MigrationStatus {
  /** Who is at work; null where nobody is. */
  readonly runner: RunnerStatus | null;
  readonly models: readonly ModelStatus[];
}

/** Who works at the database's schema. */
export interface RunnerStatus {
  /** Tells the run from others. */
  readonly id: string;
  readonly host: string;
  readonly since: Date;
  /** It is at work by what it last wrote, if its clock goes as this one's does. Where it is not, another may take over. */
  readonly alive: boolean;
}

/** How far a model's migration has come. */
export interface ModelStatus {
  readonly model: string;
  /** Its indexes by name: those that the program has, and what the database has beside them. */
  readonly indexes: Readonly<Record<string, IndexStatus>>;
  /** Its counters by name: `""` of all rows, else of an index. */
  readonly counters: Readonly<Record<string, CounterStatus>>;
  /** The change of all rows that is under way; null where none is. */
  readonly transform: TransformStatus | null;
}

export interface IndexStatus {
  readonly state: IndexState;
  /** The program has an index of this name. */
  readonly declared: boolean;
  /** How far its building has come; null where it is not built. */
  readonly progress: IndexProgress | null;
  /** The rows that could not enter it because others have their values: 1,000 are taken for all. */
  readonly duplicates: number;
  /** Rows that it cannot hold, by the backfill that is under way, or by one whose rows no run has returned yet. */
  readonly unindexed: UnindexedRows | null;
}

export interface CounterStatus {
  readonly state: IndexState;
  /** How far its building has come; null where it is not built. */
  readonly progress: IndexProgress | null;
}

export interface TransformStatus extends RunningTransform {
  /** How far it has come; null where it has not begun. */
  readonly progress: IndexProgress | null;
  /** Rows that could not be changed: 1,000 are taken for all. */
  readonly failed: number;
}

/** So many rows are counted. */
const mostCounted = 1000;

/**
 * Says what a database holds of the migration of some models: read while others may be at work, so that what it says of one
 * model need not go together with what it says of another.
 */
export async function migrationStatus(database: AnyDatabase): Promise<MigrationStatus> {
  const tables = [...tableContexts(database).values()];
  const [any] = tables;
  const models: ModelStatus[] = [];
  for (const context of tables) models.push(await modelStatus(context));
  return { runner: any === undefined ? null : await runnerStatus(any.kv), models };
}

async function runnerStatus(kv: Kv): Promise<RunnerStatus | null> {
  const { value } = await kv.get<StoredLease>(leaseKey);
  if (value === null) return null;
  const { runner: id, host, takenAt: since, expiresAt } = value;
  return { id, host, since, alive: !isDead(kv, value) && expiresAt > new Date() };
}

async function modelStatus(context: TableContext): Promise<ModelStatus> {
  const { kv, model, catalog } = context;
  await catalog.reload();
  const { snapshot } = catalog;
  const { entry } = snapshot;
  const { value: filled } = await kv.get<BackfillState>(backfillKey(model));
  const { value: counted } = await kv.get<CountingState>(countingKey(model));
  const { backfills } = await readUnreported([context]);
  const declared = new Map(model.indexes.map((index) => [index.name, index]));
  const indexes: Record<string, IndexStatus> = {};
  for (const name of new Set([...declared.keys(), ...Object.keys(entry.indexes)])) {
    const index = declared.get(name);
    const isFilled = filled?.indexes.includes(name) === true;
    indexes[name] = {
      state: index ? snapshot.stateOf(index) : (entry.indexes[name]?.state ?? "absent"),
      declared: index !== undefined,
      progress: isFilled ? progressOf(filled) : null,
      duplicates: await countKeys(kv, duplicatesPrefix(model, name)),
      unindexed: isFilled ? (filled.unindexed ?? null) : unreportedOf(backfills, name),
    };
  }
  const counters: Record<string, CounterStatus> = {};
  for (const [name, state] of Object.entries(entry.counters ?? {})) {
    const progress = counted?.counters.includes(name) ? { rowsDone: counted.rowsDone } : null;
    counters[name] = { state, progress };
  }
  const transform = await transformStatus(kv, model, entry);
  return { model: model.name, indexes, counters, transform };
}

/** The rows that the last backfill of an index has left out. */
function unreportedOf(backfills: readonly UnreportedRows[], index: string): UnindexedRows | null {
  return backfills.findLast(({ indexes }) => indexes.includes(index))?.unindexed ?? null;
}

async function transformStatus(
  kv: Kv,
  model: CompiledModel,
  { transform }: CatalogEntry,
): Promise<TransformStatus | null> {
  if (transform === undefined) return null;
  const { value } = await kv.get<TransformState>(transformStateKey(model));
  const failed = await countKeys(kv, failedRowsPrefix(model));
  return { ...transform, progress: value && progressOf(value), failed };
}

function progressOf({ rowsDone, rowsTotal }: IndexProgress): IndexProgress {
  return { rowsDone, ...(rowsTotal !== undefined && { rowsTotal }) };
}

async function countKeys(kv: Kv, prefix: KvKey): Promise<number> {
  let count = 0;
  for await (const _ of kv.list({ prefix }, { limit: mostCounted })) count++;
  return count;
}
