import type { OwnedFiles } from "../../engine/files/owned-files.js";
import { type LevelDatabase, LevelEngine } from "../../engine/level/level-engine.js";
import { isServingAllowed } from "../../engine/process-settings.js";
import type { Connect } from "../../engine/remote/client/link.js";
import { RemoteEngine } from "../../engine/remote/client/remote-engine.js";
import { DatabaseLockedError, DatabaseModeError } from "../../errors/core-errors.js";
import { databaseFolder } from "./level/database-folder.js";
import { openClassicLevel, syncableFolder } from "./level/open-level.js";
import { openLevelCopy } from "./level/open-level-copy.js";
import type { OpenEngineOptions } from "./open-options.js";
import { openingError } from "./opening-error.js";
import { filePlace } from "./own/file-place.js";
import { type OwnedPlace, openPlace, servePlace } from "./own/owned-place.js";
import { opened, pathOf, share } from "./share-engine.js";
import { SharedEngine } from "./shared-engine.js";

/** The engines that this process has open, opens or closes, by the real path of their folder. */
const enginesByPath = new Map<string, Promise<SharedEngine>>();
/** The real paths of the databases that this process repairs. */
const reservedFolders = new Set<string>();
/** The same by their database. Weak, so that an unclosed one can be collected. */
const enginesByDatabase = new WeakMap<LevelDatabase, Promise<SharedEngine>>();

/** Opens or shares an abstract-level database. The engine is acquired for the caller. */
export async function openLevelEngine(
  level: LevelDatabase,
  options: OpenEngineOptions,
): Promise<SharedEngine> {
  return await share(enginesByDatabase, level, options, async () => {
    try {
      await level.open();
    } catch (error) {
      throw openingError(pathOf(level) ?? "(no path)", error);
    }
    const folder = syncableFolder(level);
    return opened(await LevelEngine.open(level, { ...options, folder }));
  });
}

/**
 * Opens the LevelDB database at a path, or shares the one that this process has open there. If
 * another process owns the folder, attaches to it. The engine is acquired for the caller.
 *
 * @throws {DatabasePathError} if the path is a file, or a folder with other files.
 * @throws {DatabaseNotFoundError} if there is no database and none may be created.
 * @throws {DatabaseLockedError} if another process has the database open and cannot be attached to.
 * @throws {CorruptionError} if LevelDB finds its files damaged, or if one of them is missing.
 */
export async function openDiskEngine(
  path: string,
  options: OpenEngineOptions,
): Promise<SharedEngine> {
  const location = await databaseFolder(path, options.createIfMissing);
  if (reservedFolders.has(location)) throw new DatabaseLockedError(location);
  return await openOwned(levelPlace(location), options);
}

/**
 * Opens the database in a file that one process owns, or shares the one that this process has open
 * there. If another process owns it, attaches to it. The engine is acquired for the caller.
 *
 * @throws {DatabasePathError} if the path is a folder, or if the file has several names.
 * @throws {DatabaseNotFoundError} if there is no file and none may be created.
 * @throws {DatabaseLockedError} if another process owns the file and cannot be attached to.
 */
export async function openFileEngine(
  files: OwnedFiles,
  options: OpenEngineOptions,
): Promise<SharedEngine> {
  return await openOwned(await filePlace(files, options), options);
}

function levelPlace(location: string): OwnedPlace {
  return {
    path: location,
    folder: location,
    makeFolder: async () => undefined,
    open: async (options) => opened(await openClassicLevel(location, options)),
    openUnlocked: (options) => openLevelCopy(location, options),
  };
}

async function openOwned(place: OwnedPlace, options: OpenEngineOptions): Promise<SharedEngine> {
  const open = () => openPlace(place, options);
  return await share(enginesByPath, place.path, options, open, async (shared) => {
    const mayServe = options.attach !== false && options.attach.serve !== false;
    const isOwner = shared.engine.listen === undefined && shared.engine.isReadOnly !== true;
    const isServing = mayServe && isServingAllowed() && isOwner;
    if (isServing) await servePlace(shared, place);
  });
}

/**
 * Connects to a server. Each call has a connection of its own.
 *
 * @throws {EngineUnavailableError} if the server cannot be reached.
 * @throws {DatabaseModeError} if the database has the other mode.
 */
export async function openRemoteEngine(
  connect: Connect,
  options: OpenEngineOptions,
): Promise<SharedEngine> {
  const { mode } = options;
  const engine = await RemoteEngine.open(connect);
  if (engine.mode !== mode) {
    await engine.close();
    throw new DatabaseModeError(engine.mode);
  }
  const shared = new SharedEngine(engine, mode, async () => undefined);
  await shared.acquire(options);
  return shared;
}

/**
 * Keeps this process from opening the database in a folder. LevelDB's lock of the folder excludes
 * only other processes.
 *
 * @returns a function that allows it again.
 * @throws {DatabaseLockedError} if this process has the database open or has reserved it.
 */
export function reserveFolder(location: string): () => void {
  if (enginesByPath.has(location) || reservedFolders.has(location))
    throw new DatabaseLockedError(location);
  reservedFolders.add(location);
  return () => reservedFolders.delete(location);
}
