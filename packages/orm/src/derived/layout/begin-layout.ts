import type { Kv } from "@keywright/core";
import type { CompiledModel } from "../../model/compiled-model.js";
import {
  type CatalogEntry,
  type StoredIndex,
  type StoredLayout,
  storedIndex,
  withFormat,
} from "../../state/catalog/catalog-entry.js";
import { hasEntries } from "../../state/catalog/has-entries.js";
import { keyIndexOf, otherIndexName } from "../../state/catalog/other-layout.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { indexManifest } from "../../state/schema/manifests/index-manifest.js";
import { again, retry } from "../../state/transaction/retry.js";

/**
 * Records in the catalog that the rows are also stored by the primary key of a model, and the place
 * of each index in that layout. Does nothing if this is recorded already.
 *
 * @param stored the context with the primary key of the database.
 */
export async function beginLayout(
  { kv, catalog }: ModelStore,
  run: MigrationRun,
  model: CompiledModel,
): Promise<void> {
  await retry(async () => {
    await catalog.reload();
    const { entry, check } = catalog.snapshot;
    if (entry.otherLayout !== undefined) return undefined;
    const next = withFormat(await withLayout(kv, model, entry));
    await run.lease.commit(kv.atomic().check(check).set(check.key, next));
    return again;
  });
}

async function withLayout(
  kv: Kv,
  model: CompiledModel,
  entry: CatalogEntry,
): Promise<CatalogEntry> {
  const { primaryKey, prefix } = model;
  const otherLayout: StoredLayout = {
    primaryKey,
    place: await freePlace(kv, prefix, entry.place, primaryKey),
  };
  const keyIndex = keyIndexOf(otherLayout);
  const indexes: Record<string, StoredIndex> = {
    ...entry.indexes,
    [keyIndex.name]: { ...storedIndex(keyIndex, "absent"), isOther: true },
  };
  for (const index of model.indexes) {
    const place = await freePlace(kv, index.prefix, entry.indexes[index.name]?.place, primaryKey);
    const manifest = indexManifest({ ...index, prefix: place });
    indexes[otherIndexName(index.name, otherLayout)] = {
      ...manifest,
      state: "absent",
      isOther: true,
    };
  }
  return { ...entry, otherLayout, indexes };
}

/**
 * Returns a prefix without entries: the declared one if an earlier change of the key has freed it,
 * otherwise one that names the key.
 *
 * @param place the prefix that is in use, if it is not the declared one.
 */
async function freePlace(
  kv: Kv,
  prefix: string,
  place: string | undefined,
  primaryKey: readonly string[],
): Promise<string> {
  const named = `${prefix} (${primaryKey.join(", ")})`;
  for (let number = place === undefined ? 1 : 0; ; number++) {
    const candidate = number === 0 ? prefix : number === 1 ? named : `${named} ${number}`;
    if (candidate !== place && !(await hasEntries(kv, candidate))) return candidate;
  }
}
