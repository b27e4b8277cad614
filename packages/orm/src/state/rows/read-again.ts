import { IndexChangedError, IndexNotReadyError } from "../../errors/schema-errors.js";
import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import type { ModelCatalog } from "../catalog/model-catalog.js";
import type { ModelStore } from "../context/model-store.js";

/**
 * Reads again, by another index, if the index that a read has chosen was replaced or dropped before
 * the read ended.
 *
 * @param read chooses an index and reads by it. Returns nothing before it ends.
 */
export async function readAgain<T>({ catalog }: ModelStore, read: () => Promise<T>): Promise<T> {
  for (;;) {
    const { snapshot } = catalog;
    try {
      return await read();
    } catch (error) {
      if (!isReadAgain(error, catalog, snapshot)) throw error;
    }
  }
}

/**
 * True if a read has failed because of an index that was replaced or dropped since.
 *
 * @param snapshot the snapshot by which the read has chosen the index.
 */
export function isReadAgain(
  error: unknown,
  catalog: ModelCatalog,
  snapshot: CatalogSnapshot,
): boolean {
  const isUnreadable = error instanceof IndexNotReadyError || error instanceof IndexChangedError;
  return isUnreadable && catalog.snapshot !== snapshot;
}
