import { canBeStored } from "../../model/keys/can-be-stored.js";
import { pointerOf, primaryKeyInRow, rowKey } from "../../model/keys/primary-key.js";
import type { UnindexedRow } from "../../state/catalog/backfill-state.js";
import type { OtherLayout } from "../../state/catalog/other-layout.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { scan } from "../../state/run/page-reader.js";
import { dropDerived } from "../build-derived.js";
import { buildCounters } from "../counters/build-counters.js";
import { backfill } from "../entries/fill/backfill.js";
import { finishIndex, type MigratedIndex, maxReported } from "../entries/fill/finish-index.js";
import type { BuildOptions } from "../maintenance.js";

/** The rows that prevent the primary key from changing. */
export interface LayoutObstacles {
  /** The indexes of the new layout in which rows share values. */
  readonly indexes: readonly MigratedIndex[];
  /** The first rows that cannot be stored by the new key, at most 100. */
  readonly unkeyed: readonly UnindexedRow[];
  readonly unkeyedCount: number;
}

/**
 * Builds the other layout of a model in two backfills. The first builds the rows by the other key.
 * It ends when no two rows have the same key, so the second can build the index entries from these
 * rows like those of any model.
 *
 * @param stored the context with the primary key of the database.
 * @returns the obstacles, which are empty if the layout is complete.
 */
export async function buildLayout(
  stored: ModelStore,
  run: MigrationRun,
  options: BuildOptions,
): Promise<LayoutObstacles | "stopped"> {
  const { model, catalog } = stored;
  const other = catalog.snapshot.other;
  if (other === undefined) throw new TypeError("The catalog lists no other layout.");
  const { keyIndex } = other;
  const keyed = { ...stored, model: { ...model, indexes: [...model.indexes, keyIndex] } };
  if (catalog.snapshot.stateOf(keyIndex) !== "readable") {
    if (!(await backfill(keyed, run, options))) return "stopped";
  }
  const key = await finishIndex(keyed, run, keyIndex);
  if (key === "stopped") return "stopped";
  if (key.state !== "readable") return { indexes: [key], unkeyed: [], unkeyedCount: 0 };
  const layout = { ...stored, model: other.model };
  if (!(await backfill(layout, run, options))) return "stopped";
  const indexes: MigratedIndex[] = [];
  for (const index of other.model.indexes) {
    const finished = await finishIndex(layout, run, index);
    if (finished === "stopped") return "stopped";
    if (finished.state !== "readable") indexes.push(finished);
  }
  // The marks of a counter that is being built contain the primary keys.
  if (!(await dropDerived(stored, run)) || !(await buildCounters(stored, run))) return "stopped";
  const unkeyed = await findUnkeyedRows(stored, run, other);
  return unkeyed === "stopped" ? "stopped" : { indexes, ...unkeyed };
}

/** Finds rows that were written by hand and cannot be stored by the other key. */
async function findUnkeyedRows(
  stored: ModelStore,
  run: MigrationRun,
  { model, keyIndex }: OtherLayout,
): Promise<Pick<LayoutObstacles, "unkeyed" | "unkeyedCount"> | "stopped"> {
  const unkeyed: UnindexedRow[] = [];
  let unkeyedCount = 0;
  for await (const { entries } of scan(stored, run, [stored.model.place])) {
    for (const { key, value } of entries) {
      if (key.length !== 1 + stored.model.primaryKey.length) continue;
      const primaryKey = primaryKeyInRow(model, value);
      const isKeyed = primaryKey && canBeStored(rowKey(model, primaryKey), stored.limits.keyBytes);
      if (isKeyed) continue;
      unkeyedCount++;
      if (unkeyed.length === maxReported) continue;
      unkeyed.push({
        model: model.name,
        id: pointerOf(key.slice(1)),
        indexes: [keyIndex.name],
        reason: `It has no value for the primary key ${JSON.stringify(model.primaryKey)} that a key can hold.`,
      });
    }
  }
  return run.signal?.aborted ? "stopped" : { unkeyed, unkeyedCount };
}
