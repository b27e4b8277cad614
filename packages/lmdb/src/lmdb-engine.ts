import type { Engine, OwnedFiles } from "@keywright/core";
import { openingFailure } from "./errors/lmdb-failure.js";
import type { LmdbStore } from "./file/lmdb-store.js";
import { assertLmdbFile } from "./open/assert-lmdb-file.js";
import { assertOptions, type LmdbOptions } from "./open/lmdb-options.js";
import { defaultReaders, openStore } from "./open/open-store.js";
import { openUnlocked } from "./open/open-unlocked.js";
import { removeChangeRecords } from "./open/remove-change-records.js";
import { StoreEngine } from "./store-engine.js";

/**
 * Returns the database in an LMDB file, for `openKv`, which creates the file if it does not exist.
 * One process owns the file, and `openKv` attaches to it in all others.
 *
 * ```ts
 * const kv = await openKv(await lmdbEngine({ path: "./data.mdb" }));
 * ```
 *
 * @throws {InvalidOptionError} if an option is not valid.
 */
export async function lmdbEngine(options: LmdbOptions): Promise<OwnedFiles> {
  assertOptions(options);
  const { path, createIfMissing = true, checkEntries = true } = options;
  const { maxReaders = defaultReaders } = options;
  const engineOn = async (file: string, open: () => Promise<LmdbStore>): Promise<Engine> => {
    try {
      const store = await open();
      return await StoreEngine.open(store, file, { checksEntries: checkEntries, maxReaders }).catch(
        async (error: unknown) => {
          await store.close();
          throw error;
        },
      );
    } catch (error) {
      throw openingFailure(error, file);
    }
  };
  return {
    path,
    createIfMissing,
    assertFile: (file) =>
      assertLmdbFile(file).catch((error: unknown) => {
        throw openingFailure(error, file);
      }),
    openFile: (file) =>
      engineOn(file, async () => {
        const store = await openStore(file, maxReaders);
        await removeChangeRecords(store);
        return store;
      }),
    openUnlocked: (file) => engineOn(file, () => openUnlocked(file)),
  };
}
