import { mkdir, readdir, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { closedMarkName } from "../../../engine/level/files/closed-mark.js";
import { syncPath } from "../../../engine/level/sync-path.js";
import {
  CorruptionError,
  DatabaseNotFoundError,
  DatabasePathError,
  EngineFailedError,
} from "../../../errors/core-errors.js";
import { isDiskFailure, reasonOf } from "../opening-error.js";
import { claimName } from "../own/claim-folder.js";
import { createLevelFiles } from "./create-level-files.js";

/** Returns the real path of the folder of a database. Creates a missing folder if allowed. */
export async function databaseFolder(path: string, createIfMissing: boolean): Promise<string> {
  const location = resolve(path);
  try {
    if (createIfMissing) await makeFolder(location);
    const names = await readdir(location);
    assertDatabaseFiles(location, names);
    if (!names.includes("CURRENT")) {
      if (!createIfMissing) throw new DatabaseNotFoundError(location);
      await createLevelFiles(location);
    }
    return await realpath(location);
  } catch (cause) {
    if (cause instanceof CorruptionError || cause instanceof DatabaseNotFoundError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" && !createIfMissing) throw new DatabaseNotFoundError(location);
    if (isDiskFailure(code)) throw new EngineFailedError(cause, "open", location);
    throw new DatabasePathError(location, reasonOf(cause), cause);
  }
}

/** Creates a folder and its missing parents, and syncs them to disk. */
async function makeFolder(location: string): Promise<void> {
  const firstMade = await mkdir(location, { recursive: true });
  // Windows cannot sync a folder.
  if (firstMade === undefined || process.platform === "win32") return;
  for (let made = location; made.length >= firstMade.length; made = dirname(made)) {
    await syncPath(dirname(made));
  }
}

/**
 * Checks the files in a folder. Without `CURRENT`, LevelDB would create a new database and delete
 * the files of the old one.
 */
function assertDatabaseFiles(location: string, names: readonly string[]): void {
  if (names.includes("CURRENT") || names.every(isFirstFile)) return;
  if (names.some(isTableOrManifest))
    throw new CorruptionError("its file CURRENT is missing", undefined, undefined, location, {
      file: "CURRENT",
    });
  const others = names.filter((name) => !isFirstFile(name));
  throw new Error(`the folder holds other files, such as ${JSON.stringify(others.sort()[0])}`);
}

/** True for a file that may be left if a process is stopped before it has created a database. */
function isFirstFile(name: string): boolean {
  return (
    name === claimName ||
    /^(LOCK|LOG(\.old)?|MANIFEST-000001|\d+\.dbtmp|attach\.(sock|new|pid))$/.test(name)
  );
}

function isTableOrManifest(name: string): boolean {
  return name === closedMarkName || /^(MANIFEST-\d+|\d+\.(ldb|sst))$/.test(name);
}
