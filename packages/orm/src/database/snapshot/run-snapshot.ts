import type { Kv } from "@keywright/core";
import { IsolationUnavailableError, SnapshotEndedError } from "../../errors/transaction-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { capabilitiesOf } from "../../state/catalog/capabilities-of.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import { type TableContext, tablesIn } from "../../state/context/table-context.js";
import { readStored } from "../../state/rows/read-rows.js";
import { SnapshotKv } from "../../state/snapshot/snapshot-kv.js";

export interface SnapshotOptions {
  /** Ends the snapshot. Its reads then throw the reason of the signal, and so does `snapshot`. */
  readonly signal?: AbortSignal | undefined;
}

type Tables = ReadonlyMap<string, TableContext>;

/** The reads of one state, and the tables that read it. */
export interface HeldState {
  readonly snapshot: SnapshotKv;
  readonly held: Tables;
}

/**
 * Runs a function that reads one state of the database, and ends its reads after it.
 *
 * @param body is called with the tables that read the state.
 * @throws {IsolationUnavailableError} if the database has no views.
 */
export async function runSnapshot<T>(
  kv: Kv,
  tables: Tables,
  body: (tables: Tables) => Promise<T>,
  { signal }: SnapshotOptions = {},
): Promise<T> {
  return await runHeld(await openSnapshot(kv, tables, signal), body, signal);
}

/** Runs a function that reads a state, and ends its reads after it. */
export async function runHeld<T>(
  { snapshot, held }: HeldState,
  body: (tables: Tables) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const abort = () => snapshot.end(() => signal?.reason);
  try {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
    const result = await body(held);
    signal?.throwIfAborted();
    return result;
  } finally {
    signal?.removeEventListener("abort", abort);
    snapshot.end();
  }
}

/**
 * Opens a view of a state in which the catalogs are those that this program has read last. Tries
 * again until this is so, or until the signal is aborted.
 */
async function openSnapshot(
  kv: Kv,
  tables: Tables,
  signal: AbortSignal | undefined,
): Promise<HeldState> {
  const all = [...tables.values()];
  const { limits } = capabilitiesOf(kv);
  for (;;) {
    signal?.throwIfAborted();
    const view = await kv.openView?.({ atFirstRead: true });
    if (view === undefined) throw new IsolationUnavailableError("snapshot");
    const snapshot = new SnapshotKv(kv, view);
    try {
      // This is the first read, so the state is that of this moment.
      const keys = all.map(({ catalog }) => catalog.snapshot.check.key);
      const entries = await readStored({ kv: snapshot, limits }, keys);
      const differs = ({ catalog }: TableContext, i: number) =>
        catalog.snapshot.check.versionstamp !== entries[i]?.versionstamp;
      for (const [i, table] of all.entries()) if (differs(table, i)) await table.catalog.reload();
      // Other calls may have read catalogs during the reloads. Nothing comes between the last
      // comparison and the use of what was compared.
      if (!all.some(differs)) {
        snapshot.assertPlaces = placesOf(all);
        return { snapshot, held: tablesIn(tables, snapshot) };
      }
      snapshot.end();
    } catch (error) {
      snapshot.end();
      throw error;
    }
  }
}

/**
 * Returns a function that throws if a migration has replaced rows or indexes since the snapshot, so
 * that they are in other places now.
 */
export function placesOf(tables: readonly TableContext[]): () => void {
  const known = tables.map(({ model, catalog }) => {
    return { model, catalog, snapshot: catalog.snapshot, places: placesIn(model) };
  });
  const hasMoved = ({ model, catalog, snapshot, places }: Known) =>
    catalog.snapshot !== snapshot && placesIn(model) !== places;
  return () => {
    const moved = known.find(hasMoved);
    if (moved === undefined) return;
    const reason = `a migration has replaced rows or indexes of ${moved.model.name}`;
    throw new SnapshotEndedError({ reason });
  };
}

interface Known {
  readonly model: CompiledModel;
  readonly catalog: { readonly snapshot: CatalogSnapshot };
  readonly snapshot: CatalogSnapshot;
  readonly places: string;
}

function placesIn({ place, indexes }: CompiledModel): string {
  return JSON.stringify([place, ...indexes.map((index) => index.place)]);
}
