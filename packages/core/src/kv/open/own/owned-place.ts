import cluster from "node:cluster";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../../../engine/engine.js";
import { RemoteEngine } from "../../../engine/remote/client/remote-engine.js";
import {
  DatabaseLockedError,
  DatabaseModeError,
  DatabasePathError,
} from "../../../errors/core-errors.js";
import { isKeywrightError } from "../../../errors/keywright-error.js";
import type { OpenEngineOptions } from "../open-options.js";
import { openingError } from "../opening-error.js";
import { serverOfEngine } from "../server-of-engine.js";
import { SharedEngine } from "../shared-engine.js";
import { claimFolder } from "./claim-folder.js";
import { connectInFolder, listenInFolder, ownerOf } from "./folder-socket.js";
import { readOnlyEngine } from "./read-only-engine.js";

/** How long the owner of a database may take to listen, in milliseconds. */
const ownerPatience = 2000;

/** The reason of an error if the permissions or the file system forbid writing. */
const deniedReason = /denied|not permitted|read-only/i;

/** A database that one process owns at a time, and to whose owner other processes attach. */
export interface OwnedPlace {
  /** The real path of the database. */
  readonly path: string;
  /** The folder that its owner locks, and in which it listens. */
  readonly folder: string;
  makeFolder(): Promise<void>;
  /**
   * Opens the database in this process.
   *
   * @throws {DatabaseLockedError} if another process owns it.
   */
  open(options: OpenEngineOptions): Promise<OpenedEngine>;
  /** Opens the database for reads only, and writes nothing to its folder. */
  openUnlocked(options: OpenEngineOptions): Promise<OpenedEngine>;
}

export interface OpenedEngine {
  readonly engine: Engine;
  /** Call this after the engine is closed. It lets others own the database. */
  readonly release: () => Promise<void>;
}

/** Attaches to the process that owns a database, or becomes its owner. */
export async function openPlace(
  place: OwnedPlace,
  options: OpenEngineOptions,
): Promise<OpenedEngine> {
  if (options.attach === false) {
    if (await hasOwner(place)) throw new DatabaseLockedError(place.path);
    return await ownPlace(place, options);
  }
  const giveUpAt = performance.now() + ownerPatience;
  for (;;) {
    const engine = await attachedEngine(place, options);
    if (engine !== undefined) return { engine, release: async () => undefined };
    try {
      return await ownPlace(place, options);
    } catch (error) {
      if (!(error instanceof DatabaseLockedError) || performance.now() > giveUpAt) throw error;
    }
    // The owner does not listen yet, or has closed just now.
    await sleep(20);
  }
}

/** Lets other processes attach to this one, which owns the database. */
export async function servePlace(shared: SharedEngine, { folder }: OwnedPlace): Promise<void> {
  const access = { canWrite: true, maxMessageBytes: Number.POSITIVE_INFINITY };
  const stop = await listenInFolder(folder, (socket) =>
    serverOfEngine(shared).accept(socket, access),
  );
  shared.stopServingWith(stop);
}

/** True if a process answers that owns a database, so that its lock need not be tried. */
async function hasOwner({ folder }: OwnedPlace): Promise<boolean> {
  try {
    (await connectInFolder(folder)).destroy();
    return true;
  } catch {
    return false;
  }
}

/**
 * Becomes the owner of a database. If it is only read and nothing can be written there, as on a
 * read-only file system, it is opened without a lock.
 */
async function ownPlace(place: OwnedPlace, options: OpenEngineOptions): Promise<OpenedEngine> {
  try {
    return await lockPlace(place, options);
  } catch (error) {
    const isUnwritable = error instanceof DatabasePathError && deniedReason.test(error.reason);
    if (!options.readOnly || !isUnwritable) throw error;
  }
  const { engine, release } = await place.openUnlocked(options);
  return { engine: readOnlyEngine(engine, place.path), release };
}

async function lockPlace(place: OwnedPlace, options: OpenEngineOptions): Promise<OpenedEngine> {
  try {
    await place.makeFolder();
  } catch (error) {
    throw openingError(place.path, error);
  }
  const endClaim = await claimFolder(place.folder, place.path);
  try {
    const { engine, release } = await place.open(options);
    return { engine, release: () => release().finally(endClaim) };
  } catch (error) {
    endClaim();
    throw error;
  }
}

/** Returns the engine of the process that owns a database, or undefined if none answers. */
async function attachedEngine(
  place: OwnedPlace,
  options: OpenEngineOptions,
): Promise<RemoteEngine | undefined> {
  let engine: RemoteEngine;
  /** The engine by which this process owns the database, after it has taken over. */
  let own: SharedEngine | undefined;
  let takingOver: Promise<Socket> | undefined;
  let isClosed = false;
  /** Becomes the owner, and connects to itself. */
  const takeOver = async () => {
    const opened = await ownPlace(place, options);
    const taken = new SharedEngine(opened.engine, options.mode, opened.release, place.path);
    // The handle may be open although a restore has not finished or the database was moved.
    await taken.acquire({ readOnly: options.readOnly, isRestoring: true, allowMoved: true });
    await servePlace(taken, place);
    try {
      const socket = await connectInFolder(place.folder);
      own = taken;
      engine.hasTakenOver = true;
      return socket;
    } catch (failure) {
      // For example, the disk is too full for a socket. Another process may own the folder then.
      await taken.release();
      throw failure;
    }
  };
  const mayTakeOver = () => {
    if (options.attach === false) return false;
    // Threads and workers are parts of one program. Which of them is the owner is a coincidence.
    return options.attach.takeOver ?? (cluster.isWorker || engine.isOwnedByThread);
  };
  let isFirst = true;
  const connect = async () => {
    try {
      return await connectInFolder(place.folder);
    } catch (error) {
      if (isFirst || isClosed || own !== undefined || !mayTakeOver()) throw error;
      takingOver = takeOver();
      return await takingOver;
    } finally {
      isFirst = false;
    }
  };
  const close = async () => {
    isClosed = true;
    // Otherwise this process would become the owner after it has closed the database.
    await takingOver?.catch(() => undefined);
    await own?.release();
  };
  try {
    engine = await RemoteEngine.open(connect, {
      onClose: close,
      findOwner: () => ownerOf(place.folder),
    });
  } catch (error) {
    if (isKeywrightError(error)) throw error;
    return undefined;
  }
  if (engine.mode === options.mode) return engine;
  await engine.close();
  throw new DatabaseModeError(engine.mode, place.path);
}
