import type { CompiledModel } from "../../model/compiled-model.js";
import {
  type CatalogEntry,
  type StoredIndex,
  type StoredLayout,
  storedIndex,
  storedIndexOf,
} from "../../state/catalog/catalog-entry.js";
import { keyIndexOf, otherIndexName } from "../../state/catalog/other-layout.js";
import { readRowManifest, rowManifestKey } from "../../state/catalog/row-manifests.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { again, retry } from "../../state/transaction/retry.js";

/**
 * Makes the other layout of a model the one that is read, in one commit. From then on, programs
 * with the previous primary key can neither read nor write. The previous layout is still maintained
 * for those that are reading it at the moment.
 *
 * @param context the context of the program, which has the new primary key.
 * @param stored the context with the primary key of the database.
 * @returns false if the layout is not complete, because the catalog has changed.
 */
export async function switchKey(
  { kv, model, catalog: { programRows } }: ModelStore,
  stored: ModelStore,
  run: MigrationRun,
): Promise<boolean> {
  const { manifest } = programRows;
  return await retry(async () => {
    await stored.catalog.reload();
    const { entry, check } = stored.catalog.snapshot;
    if (!isComplete(entry) || recordsExpiry(stored)) return false;
    const left = (await readRowManifest(kv, model, entry.schema?.hash))?.left;
    const operation = kv
      .atomic()
      .check(check)
      .set(check.key, switched(entry, model, stored.model, manifest.hash))
      .set(rowManifestKey(model, manifest.hash), { ...manifest, ...(left && { left }) });
    return (await run.lease.commit(operation)).ok ? true : again;
  });
}

/** True if rows have records with their primary keys, because a row that expires was created. */
function recordsExpiry({ catalog: { snapshot, capabilities } }: ModelStore): boolean {
  const { expires, counters = {} } = snapshot.entry;
  return expires === true && (!capabilities.returnsExpiry || Object.keys(counters).length > 0);
}

function isComplete({ indexes, otherLayout, counters = {}, transform }: CatalogEntry): boolean {
  const states = Object.values(indexes).flatMap(({ isOther, state }) => (isOther ? [state] : []));
  return (
    otherLayout !== undefined &&
    transform === undefined &&
    [...states, ...Object.values(counters)].every((state) => state === "readable")
  );
}

function switched(
  entry: CatalogEntry,
  model: CompiledModel,
  before: CompiledModel,
  hash: string,
): CatalogEntry {
  const { otherLayout: layout, place: _, ...kept } = entry;
  if (layout === undefined) return entry;
  const previous: StoredLayout = { primaryKey: before.primaryKey, place: before.place };
  const indexes: Record<string, StoredIndex> = {};
  for (const [name, index] of Object.entries(entry.indexes)) {
    if (!index.isOther) indexes[name] = index;
  }
  const left = { state: "disabled", isOther: true } as const;
  for (const index of model.indexes) {
    const was = storedIndexOf(entry, index.name);
    const now = storedIndexOf(entry, otherIndexName(index.name, layout));
    if (was === undefined || now === undefined) continue;
    const { state: _state, earlier, place = was.prefix, ...manifest } = was;
    indexes[index.name] = {
      ...storedIndex(index, "readable"),
      ...(earlier && { earlier }),
      ...(now.prefix !== index.prefix && { place: now.prefix }),
    };
    indexes[otherIndexName(index.name, previous)] = { ...manifest, prefix: place, ...left };
  }
  const keyIndex = keyIndexOf(previous);
  indexes[keyIndex.name] = { ...storedIndex(keyIndex, "disabled"), isOther: true };
  return {
    ...kept,
    format: 3,
    name: model.name,
    schema: { hash, accepts: [] },
    ...(layout.place !== model.prefix && { place: layout.place }),
    otherLayout: previous,
    indexes,
  };
}
