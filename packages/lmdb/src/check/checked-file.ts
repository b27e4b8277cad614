import { stat } from "node:fs/promises";
import type { CheckedFile } from "@keywright/core/engine";
import type { LmdbStore } from "../file/lmdb-store.js";
import { checkEntries } from "./check-entries.js";

/**
 * A check in the background ends early if the file has grown by this part of its size. While a
 * check reads one state, LMDB cannot use the pages of that state again, so writers make the file
 * grow.
 */
const mostGrowth = 1 / 8;

/** Returns an LMDB file for the checker of entries. */
export function checkedFile(store: LmdbStore, path: string): CheckedFile {
  const size = async () => (await stat(path)).size;
  return {
    path,
    size,
    check: (check) => checkEntries(store, check),
    hasGrown: async (before) => (await size()) > before * (1 + mostGrowth),
  };
}
