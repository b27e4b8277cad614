import type { Kv, KvEntry } from "@keywright/core";
import { LogUnavailableError, PastUnreadableError } from "../../errors/transaction-errors.js";
import { capabilitiesOf } from "../../state/catalog/capabilities-of.js";
import { definitionOf, placeOf } from "../../state/catalog/catalog-entry.js";
import type { ModelCatalog } from "../../state/catalog/model-catalog.js";
import { type TableContext, tablesIn } from "../../state/context/table-context.js";
import { readStored } from "../../state/rows/read-rows.js";
import { SnapshotKv } from "../../state/snapshot/snapshot-kv.js";
import { type HeldState, placesOf, runHeld, type SnapshotOptions } from "./run-snapshot.js";

export interface PastOptions extends SnapshotOptions {
  /**
   * The maximum number of entries that were changed since the moment. They are read from the log
   * and kept in memory. The default is 100,000.
   */
  readonly maxChanges?: number | undefined;
}

type Tables = ReadonlyMap<string, TableContext>;

/**
 * Runs a function that reads an earlier state of the database, and ends its reads after it.
 *
 * @param moment a versionstamp or a time.
 * @param body is called with the tables that read the state.
 * @throws {LogUnavailableError} if the database cannot keep a log.
 * @throws {PastUnreadableError} if a migration has moved rows or indexes since.
 * @throws the errors of `kv.openPast`.
 */
export async function runPast<T>(
  kv: Kv,
  tables: Tables,
  moment: string | Date,
  body: (tables: Tables) => Promise<T>,
  { signal, maxChanges }: PastOptions = {},
): Promise<T> {
  signal?.throwIfAborted();
  const view = await kv.openPast?.(moment, { maxChanges });
  if (view === undefined) throw new LogUnavailableError("");
  const snapshot = new SnapshotKv(kv, view);
  try {
    return await runHeld(await heldState(kv, tables, snapshot), body, signal);
  } finally {
    snapshot.end();
  }
}

/** Returns tables with the catalogs of the state, by which its rows and indexes are read. */
async function heldState(kv: Kv, tables: Tables, snapshot: SnapshotKv): Promise<HeldState> {
  const all = [...tables.entries()];
  const { limits } = capabilitiesOf(kv);
  const keys = all.map(([, { catalog }]) => catalog.snapshot.check.key);
  const entries = await readStored({ kv: snapshot, limits }, keys);
  const catalogs = new Map<string, ModelCatalog>();
  for (const [i, [name, table]] of all.entries()) {
    const entry = entries[i]!;
    // A model that was added later has no entry, and no rows.
    if (entry.versionstamp === null) continue;
    if (entry.versionstamp === table.catalog.snapshot.check.versionstamp) continue;
    catalogs.set(name, await earlierCatalog(table, snapshot, entry));
  }
  snapshot.assertPlaces = placesOf(all.map(([, table]) => table));
  return { snapshot, held: tablesIn(tables, snapshot, catalogs) };
}

async function earlierCatalog(
  { model, catalog }: TableContext,
  snapshot: SnapshotKv,
  stored: KvEntry<unknown>,
): Promise<ModelCatalog> {
  const held = await catalog.heldAt(snapshot, stored);
  const { entry } = held.snapshot;
  const hasMoved = model.indexes.some((index) => {
    const known = definitionOf(entry, index);
    return known !== undefined && placeOf(known.stored) !== index.place;
  });
  if (hasMoved || (entry.place ?? model.prefix) !== model.place)
    throw new PastUnreadableError(model.name);
  return held;
}
