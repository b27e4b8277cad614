import type { Kv, KvEntryMaybe } from "@keywright/core";
import { IsolationUnavailableError, SnapshotEndedError } from "../errors/transaction-errors.js";
import type { CompiledModel } from "../model/compiled-model.js";
import { capabilitiesOf } from "../state/catalog/capabilities-of.js";
import type { CatalogSnapshot } from "../state/catalog/catalog-snapshot.js";
import type { TableContext } from "../state/context/table-context.js";
import { readStored } from "../state/rows/read-rows.js";
import { SnapshotKv } from "../state/snapshot/snapshot-kv.js";

export interface SnapshotOptions {
  /** Ends the snapshot. Its reads then throw the reason of the signal, and so does `snapshot`. */
  readonly signal?: AbortSignal | undefined;
}

type Tables = ReadonlyMap<string, TableContext>;

/**
 * Runs a function that reads one state of the database, and ends its reads after it.
 *
 * @throws {IsolationUnavailableError} if the database has no views.
 */
export async function runSnapshot<T>(
  kv: Kv,
  tables: Tables,
  body: (snapshot: SnapshotKv) => Promise<T>,
  { signal }: SnapshotOptions = {},
): Promise<T> {
  signal?.throwIfAborted();
  const snapshot = await openSnapshot(kv, tables);
  const abort = () => snapshot.end(() => signal?.reason);
  try {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", abort, { once: true });
    const result = await body(snapshot);
    signal?.throwIfAborted();
    return result;
  } finally {
    signal?.removeEventListener("abort", abort);
    snapshot.end();
  }
}

/** Opens a view whose catalog is the one that this program has read last. */
async function openSnapshot(kv: Kv, tables: Tables): Promise<SnapshotKv> {
  const all = [...tables.values()];
  const { limits } = capabilitiesOf(kv);
  for (;;) {
    const view = await kv.openView?.({ atFirstRead: true });
    if (view === undefined) throw new IsolationUnavailableError("snapshot");
    const snapshot = new SnapshotKv(kv, view);
    try {
      // This is the first read, so the state is that of this moment.
      const keys = all.map(({ catalog }) => catalog.snapshot.check.key);
      const entries = await readStored({ kv: snapshot, limits }, keys);
      if (!(await haveChanged(all, entries))) {
        snapshot.assertPlaces = placesOf(all);
        return snapshot;
      }
      snapshot.end();
    } catch (error) {
      snapshot.end();
      throw error;
    }
  }
}

/** Reads catalogs again that differ from those of a view. Returns true if they still differ. */
async function haveChanged(
  tables: readonly TableContext[],
  entries: readonly KvEntryMaybe<unknown>[],
): Promise<boolean> {
  for (const [i, { catalog }] of tables.entries()) {
    const isSame = () => catalog.snapshot.check.versionstamp === entries[i]?.versionstamp;
    if (isSame()) continue;
    await catalog.reload();
    if (!isSame()) return true;
  }
  return false;
}

/**
 * Returns a function that throws if rows or indexes are no longer in the places where they are in
 * the snapshot, because a migration has replaced them.
 */
function placesOf(tables: readonly TableContext[]): () => void {
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
