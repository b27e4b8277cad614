import type { KvEntry, KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import type { ModelStore } from "../context/model-store.js";
import { type MigrationRun, maxBatchRows } from "./migration-run.js";
import { PageReader } from "./page-reader.js";

/** The stored position of a build. */
export interface BuildState {
  /** The primary key of the last row that has been processed. Null before the first row. */
  readonly after: readonly KvKeyPart[] | null;
  readonly rowsDone: number;
  readonly rowsTotal?: number;
}

/** A build that goes through all rows of a model in batches. */
export interface BatchBuild<State extends BuildState> {
  /** The names of the indexes that are built, for the progress. */
  readonly indexes: readonly string[];
  /** Returns how many rows fit into one commit at most, by the limits of the database. */
  readonly maxRows: () => number;
  /**
   * Adds a batch in one commit, which checks the rows and stores the new state.
   *
   * @returns the new state; `"again"` if a check failed and the same rows should be tried again;
   * `"smaller"` if a smaller batch may succeed.
   */
  readonly add: (
    rows: readonly KvEntry<AnyRow>[],
    state: State,
  ) => Promise<State | "again" | "smaller">;
  /** False if the catalog no longer lists anything that the build makes. */
  readonly isWanted: (state: State) => boolean;
}

/**
 * Adds all rows of a model to what is built, while programs write. Writers add the rows that they
 * create themselves. A batch becomes smaller after a conflict, and larger after a success.
 *
 * @returns the last state; `"stopped"` if the signal stopped it, and the next call continues with
 * the stored state; `"unwanted"` if the catalog has changed so that nothing is to be built.
 * @throws {StaleSchemaError} if the database has something that this program does not know.
 */
export async function buildInBatches<State extends BuildState>(
  store: ModelStore,
  run: MigrationRun,
  initial: State,
  { indexes, maxRows, add, isWanted }: BatchBuild<State>,
): Promise<State | "stopped" | "unwanted"> {
  const { model, catalog } = store;
  const pages = new PageReader(store, run);
  const meter = run.meter(model.name, indexes);
  meter.start("building", initial.rowsDone, initial.rowsTotal);
  let state = initial;
  let size = maxBatchRows;
  try {
    for (;;) {
      if (run.signal?.aborted) return "stopped";
      size = Math.max(1, Math.min(size, maxRows(), maxBatchRows, run.batchRows));
      const { entries: rows, isLast } = await pages.rows(state.after, size);
      const next = rows.length === 0 ? state : await add(rows, state);
      if (next === "again" || next === "smaller") {
        if (next === "smaller") size = Math.floor(rows.length / 2);
        await catalog.reload();
        catalog.snapshot.assertWritable();
        if (!isWanted(state)) return "unwanted";
        await run.afterBatch(0);
        continue;
      }
      state = next;
      if (rows.length > 0) meter.advance(state.rowsDone, state.rowsTotal);
      await run.afterBatch(rows.length);
      if (isLast) return state;
      size *= 2;
    }
  } finally {
    await pages.settle();
  }
}
