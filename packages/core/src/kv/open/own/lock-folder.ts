import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { DatabaseLockedError } from "../../../errors/core-errors.js";
import { openingError } from "../opening-error.js";

const attempts = 3;
/** The names of files that must stay: the lock, the claim of a thread, and the socket. */
const kept = /^(LOCK|keywright\.open|attach\..*)$/;

/**
 * Takes the lock of a database that is in a file, by opening an empty LevelDB database in a folder
 * for this purpose. Node.js cannot lock files. LevelDB can: it locks its file `LOCK`, and the
 * system frees the lock if the process ends.
 *
 * @param path the path of the database, for errors.
 * @returns a function that frees the lock.
 * @throws {DatabaseLockedError} if another process has the lock.
 * @throws {DatabasePathError} if nothing can be written to the folder.
 */
export async function lockFolder(folder: string, path: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  for (let attempt = 1; ; attempt++) {
    const level = new ClassicLevel(folder, { cacheSize: 0, writeBufferSize: 64 * 1024 });
    try {
      await level.open();
      return () => level.close();
    } catch (error) {
      const failure = openingError(path, error);
      if (failure instanceof DatabaseLockedError || attempt === attempts) throw failure;
      // A power failure may have damaged the other files. They contain nothing. A process that has
      // the lock does not need them. Without `LOCK`, two processes would lock two files.
      for (const name of await readdir(folder))
        if (!kept.test(name)) await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}
