import { mkdir, open, readdir, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ClassicLevel } from "classic-level";
import { MemoryLevel } from "memory-level";
import type { Engine } from "../engine/engine.js";
import type { DatabaseMode } from "../engine/level/database-header.js";
import type { LevelDatabase } from "../engine/level/level-engine.js";
import { LevelEngine } from "../engine/level/level-engine.js";
import {
  CorruptionError,
  DatabaseLockedError,
  DatabaseModeError,
  DatabaseNotFoundError,
  DatabasePathError,
} from "../errors/core-errors.js";
import { SharedEngine } from "./shared-engine.js";

/** The engines that this process has open, is opening or is closing, by the real path of their folder. */
const enginesByPath = new Map<string, Promise<SharedEngine>>();
/** The same by their database. Weakly: one in memory that is never closed goes when nobody has it any more. */
const enginesByDatabase = new WeakMap<LevelDatabase, Promise<SharedEngine>>();

/** How a database is to be opened. */
export interface OpenEngineOptions {
  readonly mode: DatabaseMode;
  readonly readOnly: boolean;
  /** Of a database on disk. */
  readonly createIfMissing: boolean;
}

/** Opens a database of its own in memory. Its user has been counted in. */
export function openMemoryEngine(options: OpenEngineOptions): Promise<SharedEngine> {
  const level = new MemoryLevel<Uint8Array, Uint8Array>({
    storeEncoding: "view",
  });
  // It is empty, and nobody else can fill it.
  return openLevelEngine(level as unknown as LevelDatabase, { ...options, readOnly: false });
}

/** Opens an abstract-level database, or shares it where it is open here already. Its user has been counted in. */
export async function openLevelEngine(
  level: LevelDatabase,
  options: OpenEngineOptions,
): Promise<SharedEngine> {
  return await share(enginesByDatabase, level, options, async () => {
    try {
      await level.open();
    } catch (error) {
      throw openingError((level as { location?: string }).location ?? "a database", error);
    }
    return await LevelEngine.open(level, options);
  });
}

/**
 * Opens the LevelDB database at a path, or shares the one that this process has open there. Its user has been counted
 * in.
 *
 * @throws {DatabasePathError} where the path is a file, or a folder of other things.
 * @throws {DatabaseNotFoundError} where it has no database, and none is to be made.
 * @throws {DatabaseLockedError} where another process has it open.
 * @throws {CorruptionError} where LevelDB finds its files damaged, or one of them is missing.
 */
export async function openDiskEngine(
  path: string,
  options: OpenEngineOptions,
): Promise<SharedEngine> {
  const location = await databaseFolder(path, options.createIfMissing);
  return await share(enginesByPath, location, options, () => openClassicLevel(location, options));
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
): Promise<SharedEngine> {
  for (let known = engines.get(where); known; known = engines.get(where)) {
    // Where another opening fails, it may be for its own options.
    const shared = await known.catch(() => undefined);
    if (shared === undefined) continue;
    if (shared.closing === undefined) {
      if (shared.mode !== mode) throw new DatabaseModeError(shared.mode);
      shared.acquire(readOnly);
      return shared;
    }
    await shared.closing.catch(() => undefined);
  }
  const forget = () => engines.delete(where);
  const opening = open().then(
    (engine) => new SharedEngine(engine, mode, forget),
    (error) => {
      // Before those who wait for it look again.
      forget();
      throw error;
    },
  );
  engines.set(where, opening);
  const shared = await opening;
  shared.acquire(readOnly);
  return shared;
}

async function openClassicLevel(location: string, options: OpenEngineOptions): Promise<Engine> {
  const level = new ClassicLevel<Uint8Array, Uint8Array>(location, {
    keyEncoding: "view",
    valueEncoding: "view",
    createIfMissing: options.createIfMissing,
  });
  try {
    await level.open();
  } catch (error) {
    throw openingError(location, error);
  }
  try {
    const database = level as unknown as LevelDatabase;
    return await LevelEngine.open(database, { ...options, copiesWrites: true });
  } catch (error) {
    await level.close();
    throw error;
  }
}

function openingError(location: string, error: unknown): Error {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (code === "LEVEL_LOCKED") return new DatabaseLockedError(location, error);
  const reason = cause instanceof Error ? cause.message : String(error);
  if (code === "LEVEL_CORRUPTION") return new CorruptionError(reason, undefined, error);
  return new DatabasePathError(location, reason, error);
}

/** The real path of a database's folder, which is made where it is absent and may be made. */
async function databaseFolder(path: string, createIfMissing: boolean): Promise<string> {
  const location = resolve(path);
  try {
    if (createIfMissing) await makeFolder(location);
    const names = await readdir(location);
    assertDatabaseFiles(names);
    if (!createIfMissing && !names.includes("CURRENT")) throw new DatabaseNotFoundError(location);
    return await realpath(location);
  } catch (cause) {
    if (cause instanceof CorruptionError || cause instanceof DatabaseNotFoundError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" && !createIfMissing) throw new DatabaseNotFoundError(location);
    throw new DatabasePathError(location, reasonOf(cause), cause);
  }
}

/** Makes a folder with those above it, so that they survive a power cut as what is stored in them does. */
async function makeFolder(location: string): Promise<void> {
  const firstMade = await mkdir(location, { recursive: true });
  // Windows has no way to sync a folder.
  if (firstMade === undefined || process.platform === "win32") return;
  for (let made = location; made.length >= firstMade.length; made = dirname(made)) {
    await syncFolder(dirname(made));
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Where `CURRENT` is missing, LevelDB would begin a new database, and remove the files of the one that was there. */
function assertDatabaseFiles(names: readonly string[]): void {
  if (names.includes("CURRENT") || names.every(isFirstFile)) return;
  if (names.some(isTableOrManifest)) throw new CorruptionError("the file CURRENT is missing");
  throw new Error("the folder holds other files");
}

/** The files that LevelDB may have left when it was stopped before it had a database. */
function isFirstFile(name: string): boolean {
  return /^(LOCK|LOG(\.old)?|MANIFEST-000001|000001\.dbtmp)$/.test(name);
}

function isTableOrManifest(name: string): boolean {
  return /^(MANIFEST-\d+|\d+\.(ldb|sst))$/.test(name);
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === "EEXIST" || code === "ENOTDIR")
    return "a file is in the way: a database is a folder";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return "the folder cannot be written to";
  return message;
}
