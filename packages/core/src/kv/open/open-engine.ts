import cluster from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import { MemoryLevel } from "memory-level";
import type { Engine } from "../../engine/engine.js";
import { type LevelDatabase, LevelEngine } from "../../engine/level/level-engine.js";
import { isServingAllowed } from "../../engine/process-settings.js";
import type { Connect } from "../../engine/remote/link.js";
import { RemoteEngine } from "../../engine/remote/remote-engine.js";
import {
  CorruptionError,
  DatabaseFormatError,
  DatabaseLockedError,
  DatabaseModeError,
} from "../../errors/core-errors.js";
import { isKeywrightError } from "../../errors/keywright-error.js";
import { databaseFolder } from "./database-folder.js";
import { connectInFolder, listenInFolder } from "./folder-socket.js";
import { type LevelOptions, openClassicLevel, openingError, syncableFolder } from "./open-level.js";
import { SharedEngine } from "./shared-engine.js";
import { verifyMode } from "./verify-mode.js";

/** How long the owner of a folder may take to listen, in milliseconds. */
const ownerPatience = 2000;
/** The engines that this process has open, opens or closes, by the real path of their folder. */
const enginesByPath = new Map<string, Promise<SharedEngine>>();
/** The real paths of the databases that this process repairs. */
const reservedFolders = new Set<string>();
/**
 * The same by their database or given engine. Weak, so that an unclosed database in memory can be
 * collected.
 */
const enginesByDatabase = new WeakMap<LevelDatabase | Engine, Promise<SharedEngine>>();

/** How the processes that open the same folder work together. */
export interface AttachOptions {
  /** True if other processes may attach to this one. The default is true. */
  readonly serve?: boolean | undefined;
  /**
   * True to become the owner of the folder if its owner ends. If false, calls wait a few seconds
   * for another owner and fail. The default is true in a worker of `node:cluster`, whose workers
   * are equal, and false in other processes.
   */
  readonly takeOver?: boolean | undefined;
}

export interface OpenEngineOptions extends LevelOptions {
  /** False to fail if another process owns the folder, and to serve no other process. */
  readonly attach: AttachOptions | false;
}

export function openMemoryEngine(options: OpenEngineOptions): Promise<SharedEngine> {
  const level = new MemoryLevel<Uint8Array, Uint8Array>({ storeEncoding: "view" });
  // The engine refuses an empty database that is read-only, and a new one is always empty.
  return openLevelEngine(level as unknown as LevelDatabase, { ...options, readOnly: false });
}

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
    return await LevelEngine.open(level, { ...options, folder: syncableFolder(level) });
  });
}

/** Opens or shares a database on an engine. The engine is acquired for the caller. */
export async function openGivenEngine(
  engine: Engine,
  options: OpenEngineOptions,
): Promise<SharedEngine> {
  return await share(enginesByDatabase, engine, options, async () => {
    await verifyMode(engine, options);
    return engine;
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
  const open = () => openFolder(location, options);
  return await share(enginesByPath, location, options, open, async (shared) => {
    const mayServe = options.attach !== false && options.attach.serve !== false;
    const isServing = mayServe && isServingAllowed() && shared.engine.listen === undefined;
    if (isServing) await serveFolder(shared, location);
  });
}

async function serveFolder(shared: SharedEngine, location: string): Promise<void> {
  const access = { canWrite: true, maxMessageBytes: Number.POSITIVE_INFINITY };
  const stop = await listenInFolder(location, (socket) => shared.server.accept(socket, access));
  shared.stopServingWith(stop);
}

/**
 * Connects to a server. Each call has a connection of its own.
 *
 * @throws {EngineUnavailableError} if the server cannot be reached.
 * @throws {DatabaseModeError} if the database has the other mode.
 */
export async function openRemoteEngine(
  connect: Connect,
  { mode, readOnly }: OpenEngineOptions,
): Promise<SharedEngine> {
  const engine = await RemoteEngine.open(connect);
  if (engine.mode !== mode) {
    await engine.close();
    throw new DatabaseModeError(engine.mode);
  }
  const shared = new SharedEngine(engine, mode, () => undefined);
  await shared.acquire(readOnly);
  return shared;
}

/** Attaches to the process that owns a folder, or becomes its owner. */
async function openFolder(location: string, options: OpenEngineOptions): Promise<Engine> {
  if (options.attach === false) return await openClassicLevel(location, options);
  const giveUpAt = performance.now() + ownerPatience;
  for (;;) {
    const engine = await attachedEngine(location, options);
    if (engine !== undefined) return engine;
    try {
      return await openClassicLevel(location, options);
    } catch (error) {
      if (!(error instanceof DatabaseLockedError) || performance.now() > giveUpAt) throw error;
    }
    // The owner does not listen yet, or has closed just now.
    await sleep(20);
  }
}

/** Returns the engine of the process that owns a folder, or undefined if none answers. */
async function attachedEngine(
  location: string,
  options: OpenEngineOptions,
): Promise<RemoteEngine | undefined> {
  let engine: RemoteEngine;
  /** The engine by which this process owns the folder, after it has taken over. */
  let own: SharedEngine | undefined;
  const takeOver = async () => {
    const taken = new SharedEngine(
      await openClassicLevel(location, options),
      options.mode,
      () => undefined,
      location,
    );
    await taken.acquire(options.readOnly);
    await serveFolder(taken, location);
    return taken;
  };
  let isFirst = true;
  const connect = async () => {
    try {
      return await connectInFolder(location);
    } catch (error) {
      const mayTakeOver = options.attach !== false && (options.attach.takeOver ?? cluster.isWorker);
      if (isFirst || own !== undefined || !mayTakeOver) throw error;
      const taken = await takeOver();
      try {
        const socket = await connectInFolder(location);
        own = taken;
        engine.hasTakenOver = true;
        return socket;
      } catch (failure) {
        // For example, the disk is too full for a socket. Another process may own the folder then.
        await taken.release();
        throw failure;
      }
    } finally {
      isFirst = false;
    }
  };
  try {
    engine = await RemoteEngine.open(connect, async () => await own?.release());
  } catch (error) {
    if (isKeywrightError(error)) throw error;
    return undefined;
  }
  if (engine.mode === options.mode) return engine;
  await engine.close();
  throw new DatabaseModeError(engine.mode, location);
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

interface EngineTable<Where> {
  get(where: Where): Promise<SharedEngine> | undefined;
  set(where: Where, engine: Promise<SharedEngine>): unknown;
  delete(where: Where): unknown;
}

async function share<Where>(
  engines: EngineTable<Where>,
  where: Where,
  { mode, readOnly }: OpenEngineOptions,
  open: () => Promise<Engine>,
  onOpen?: (shared: SharedEngine) => Promise<void>,
): Promise<SharedEngine> {
  const path = pathOf(where);
  for (let known = engines.get(where); known; known = engines.get(where)) {
    // Another call may have failed because of its own options, so this call tries with its own.
    const shared = await known.catch(() => undefined);
    if (shared === undefined) continue;
    if (shared.closing === undefined) {
      if (shared.mode !== mode) throw new DatabaseModeError(shared.mode, path);
      await shared.acquire(readOnly);
      return shared;
    }
    await shared.closing.catch(() => undefined);
  }
  const forget = () => engines.delete(where);
  const opening = open().then(
    async (engine) => {
      const opened = new SharedEngine(engine, mode, forget, path);
      await onOpen?.(opened);
      return opened;
    },
    (error) => {
      // Before the calls that wait for this one look into the table again.
      forget();
      throw withPath(error, path);
    },
  );
  engines.set(where, opening);
  const shared = await opening;
  await shared.acquire(readOnly);
  return shared;
}

function pathOf(where: unknown): string | undefined {
  const path = typeof where === "string" ? where : (where as { location?: unknown }).location;
  return typeof path === "string" ? path : undefined;
}

function withPath(error: unknown, path: string | undefined): unknown {
  if (error instanceof DatabaseFormatError) return new DatabaseFormatError(error.reason, path);
  if (error instanceof DatabaseModeError) return new DatabaseModeError(error.mode, path);
  if (error instanceof CorruptionError && error.path === undefined)
    return new CorruptionError(error.reason, error.key, error.cause, path, error);
  return error;
}
