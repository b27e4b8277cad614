import { holdLock } from "../../engine/level/repair/hold-lock.js";
import { DatabaseLockedError, DatabasePathError } from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";
import { reserveFolder } from "../open/open-engine.js";
import { claimFolder } from "../open/own/claim-folder.js";

/**
 * Locks a closed database on disk, for this and all other processes.
 *
 * @returns a function that unlocks it.
 * @throws {DatabaseLockedError} if the database is open.
 * @throws {DatabasePathError} if the folder cannot be locked.
 */
export async function lockDatabase(folder: string): Promise<() => Promise<void>> {
  const cancel = reserveFolder(folder);
  let endClaim: () => void = () => undefined;
  try {
    endClaim = await claimFolder(folder);
    const release = await holdLock(folder);
    return async () => {
      await release();
      endClaim();
      cancel();
    };
  } catch (error) {
    endClaim();
    cancel();
    if (isKeywrightError(error)) throw error;
    const { cause } = error as { cause?: { code?: unknown } };
    if (cause?.code === "LEVEL_LOCKED") throw new DatabaseLockedError(folder, error);
    throw new DatabasePathError(folder, "its file LOCK cannot be locked", error);
  }
}
