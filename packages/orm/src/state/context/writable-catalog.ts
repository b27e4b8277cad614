import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import type { ModelStore } from "./model-store.js";

/**
 * Returns the catalog by which a change is planned. Reads it again if it refuses writes, because
 * the database may have been migrated since. Stores what other programs need to know about this
 * one before it writes. Returns a promise only if something has to be read or stored.
 *
 * @throws {StaleSchemaError} if the database has indexes that this program does not know.
 */
export function writableCatalog(store: ModelStore): CatalogSnapshot | Promise<CatalogSnapshot> {
  const { snapshot } = store.catalog;
  const isKnown = snapshot.isWritable && !snapshot.needsRegistration && !snapshot.lacksCode;
  const isReady = isKnown && snapshot.hasSameKey && (!store.model.live || snapshot.entry.live);
  return isReady ? snapshot : prepareCatalog(store);
}

async function prepareCatalog({ catalog, model }: ModelStore): Promise<CatalogSnapshot> {
  if (model.live && !catalog.snapshot.entry.live) await catalog.recordFact("live");
  if (!catalog.snapshot.isWritable) await catalog.reload();
  if (catalog.snapshot.needsRegistration) await catalog.makeKnown();
  catalog.snapshot.assertWritable();
  if (catalog.snapshot.lacksCode) await catalog.recordCode();
  return catalog.snapshot;
}
