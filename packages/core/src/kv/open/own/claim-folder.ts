import { closeSync, fstatSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseLockedError } from "../../../errors/core-errors.js";
import { isDiskFailure, openingError } from "../opening-error.js";

/** The file that a thread keeps open while the database in the folder is open. */
export const claimName = "keywright.open";
/** Two threads that open a folder at the same time both withdraw, and try again. */
const attempts = 5;

/**
 * Claims a folder for this thread. LevelDB locks the file `LOCK` in the folder, and the system
 * frees that lock as soon as the process closes any descriptor of the file. A second thread that
 * tries to lock the folder is refused by LevelDB, but LevelDB then closes a descriptor, so the
 * first thread loses its lock and another process can open the database. So a thread must not try
 * if the folder is open in another thread. The open files of the process show this.
 *
 * Call this before anything opens or locks the file `LOCK`.
 *
 * @param path the path of the database, for the error.
 * @returns a function that ends the claim.
 * @throws {DatabaseLockedError} if the folder is claimed in this process.
 * @throws {DatabasePathError} if nothing can be written to the folder.
 */
export async function claimFolder(folder: string, path: string = folder): Promise<() => void> {
  // The locks of Windows belong to descriptors, not to the process.
  if (process.platform === "win32") return () => undefined;
  for (let attempt = 1; ; attempt++) {
    const descriptor = openClaim(folder, path);
    let isAlone = false;
    try {
      isAlone = timesOpen(descriptor) <= 1;
    } catch (error) {
      throw openingError(path, error);
    } finally {
      if (!isAlone) closeSync(descriptor);
    }
    if (isAlone) return keptClaim(descriptor);
    if (attempt === attempts) throw new DatabaseLockedError(path);
    await sleep(1 + Math.random() * 10 * attempt);
  }
}

const claims = new Set<number>();

/**
 * Returns a function that ends a claim. It also ends when the thread exits: Node.js and Deno then
 * close the files of a worker, but Bun does not.
 */
function keptClaim(descriptor: number): () => void {
  if (claims.size === 0) process.on("exit", endClaims);
  claims.add(descriptor);
  return () => {
    if (!claims.delete(descriptor)) return;
    if (claims.size === 0) process.off("exit", endClaims);
    closeSync(descriptor);
  };
}

function endClaims(): void {
  for (const descriptor of claims) closeSync(descriptor);
  claims.clear();
}

function openClaim(folder: string, path: string): number {
  try {
    return openSync(join(folder, claimName), "a");
  } catch (error) {
    throw openingError(path, error);
  }
}

/** Returns how many descriptors of this process, of all its threads, lead to the same file. */
function timesOpen(descriptor: number): number {
  const isLinux = process.platform === "linux";
  const folder = isLinux ? "/proc/self/fd" : "/dev/fd";
  const own = statusOf(() => fstatSync(descriptor, { bigint: true }));
  let times = 0;
  for (const name of namesIn(folder)) {
    // The numbers of Deno are not those of the system, so the path is used where it is possible.
    const other = statusOf(() =>
      isLinux
        ? statSync(join(folder, name), { bigint: true })
        : fstatSync(Number(name), { bigint: true }),
    );
    if (other !== undefined && other.dev === own?.dev && other.ino === own.ino) times++;
  }
  return times;
}

/**
 * Returns no names if the system or the permissions of Deno hide the open files.
 *
 * @throws if the process can open no more files.
 */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isDiskFailure((error as NodeJS.ErrnoException).code)) throw error;
    return [];
  }
}

/** Returns undefined if the descriptor has been closed. */
function statusOf<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
