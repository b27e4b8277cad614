import type { AtomicOperation } from "@keywright/core";
import type { CatalogEntry } from "../catalog/catalog-entry.js";
import type { ModelStore } from "../context/model-store.js";
import { again, retry } from "../transaction/retry.js";
import type { Lease } from "./lease.js";

/**
 * Changes the catalog entry of a model in one commit. Tries again if the entry has changed.
 *
 * @param update returns the new entry, or undefined to leave the entry as it is. It may also add
 * mutations to the commit.
 * @param isBehind true if the program may only be able to write after a later stage of the run.
 * @throws {LeaseLostError} if another runner holds the lease.
 */
export async function changeCatalog(
  { kv, catalog }: ModelStore,
  lease: Lease,
  update: (entry: CatalogEntry, operation: AtomicOperation) => CatalogEntry | undefined,
  isBehind = false,
): Promise<void> {
  await retry(async () => {
    const { snapshot } = catalog;
    if (!isBehind) snapshot.assertWritable();
    const operation = kv.atomic().check(snapshot.check);
    const entry = update(snapshot.entry, operation);
    if (entry === undefined) return undefined;
    const { ok } = await lease.commit(operation.set(snapshot.check.key, entry));
    await catalog.reload();
    return ok ? undefined : again;
  });
}
