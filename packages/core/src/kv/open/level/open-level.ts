import { ClassicLevel } from "classic-level";
import type { Engine } from "../../../engine/engine.js";
import type { DatabaseMode } from "../../../engine/level/database-header.js";
import { FileChecker, type FileCheckOptions } from "../../../engine/level/files/file-checker.js";
import { type LevelDatabase, LevelEngine } from "../../../engine/level/level-engine.js";
import { openWithLogs } from "../../../engine/level/open-with-logs.js";
import { openingError } from "../opening-error.js";

export interface LevelOptions {
  readonly mode: DatabaseMode;
  readonly readOnly: boolean;
  readonly createIfMissing: boolean;
  /** The size of LevelDB's cache of blocks in bytes. */
  readonly cacheBytes: number;
  /** False if the files of the database are not checked. */
  readonly checkFiles: FileCheckOptions | false;
}

/**
 * Opens the LevelDB database in a folder.
 *
 * @throws {DatabaseLockedError} if a process has it open.
 * @throws {CorruptionError} if LevelDB finds its files damaged, or if one of them is missing.
 */
export async function openClassicLevel(location: string, options: LevelOptions): Promise<Engine> {
  const { checkFiles } = options;
  const files = checkFiles === false ? undefined : new FileChecker(location, checkFiles);
  let level: ClassicLevel<Uint8Array, Uint8Array>;
  try {
    const logs = (await files?.checkBeforeOpen()) ?? [];
    level = await openWithLogs(location, logs, options);
  } catch (error) {
    throw openingError(location, error);
  }
  try {
    const database = level as unknown as LevelDatabase;
    const folder = syncableFolder(level);
    const abilities = { copiesWrites: true, checksAtLimit: true };
    return await LevelEngine.open(database, { ...options, ...abilities, folder, files });
  } catch (error) {
    await level.close();
    throw error;
  }
}

/** Returns the folder of a LevelDB database. Windows cannot sync a folder, and does not need to. */
export function syncableFolder(level: unknown): string | undefined {
  return level instanceof ClassicLevel && process.platform !== "win32" ? level.location : undefined;
}
