import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LmdbStore } from "../file/lmdb-store.js";
import { openLmdb } from "./open-store.js";

/**
 * Opens an existing LMDB file for reads without its lock file, which may be used by a process that
 * can write. LMDB names the lock file after the data file. So it opens a link to the data file in a
 * temporary folder.
 */
export async function openUnlocked(path: string): Promise<LmdbStore> {
  // Windows permits few users to create links. LMDB uses no lock file if it cannot be created.
  if (process.platform === "win32") return openLmdb(path, { readOnly: true });
  const folder = await mkdtemp(join(tmpdir(), "keywright-read-"));
  try {
    const link = join(folder, "data.mdb");
    await symlink(path, link);
    return openLmdb(link, { readOnly: true });
  } finally {
    // LMDB has opened both files, and does not need their names.
    await rm(folder, { recursive: true, force: true });
  }
}
