import { mkdir, stat } from "node:fs/promises";
import type { Engine } from "../../../engine/engine.js";
import type { OwnedFiles } from "../../../engine/files/owned-files.js";
import { DatabaseNotFoundError, DatabasePathError } from "../../../errors/core-errors.js";
import type { OpenEngineOptions } from "../open-options.js";
import { openingError } from "../opening-error.js";
import { verifyMode } from "../verify-mode.js";
import { lockFolder } from "./lock-folder.js";
import type { OpenedEngine, OwnedPlace } from "./owned-place.js";
import { realPath } from "./real-path.js";

/**
 * Returns the place of a database in a file: the folder next to its real path in which the owner
 * has a lock and a socket.
 *
 * @throws {DatabaseNotFoundError} if the file is missing and may not be created.
 * @throws {DatabasePathError} if the path is a folder, or if the file has several names.
 */
export async function filePlace(
  files: OwnedFiles,
  options: OpenEngineOptions,
): Promise<OwnedPlace> {
  let path = files.path;
  try {
    path = await realPath(path);
    await assertOwnable(files, path, options);
  } catch (error) {
    throw openingError(path, error);
  }
  const folder = `${path}-owner`;
  return {
    path,
    folder,
    makeFolder: async () => void (await mkdir(folder, { recursive: true })),
    open: async (opening) => {
      const unlock = await lockFolder(folder, path);
      try {
        await assertOwnable(files, path, opening);
        return await verified(await files.openFile(path), opening, unlock);
      } catch (error) {
        await unlock();
        throw openingError(path, error);
      }
    },
    openUnlocked: async (opening) =>
      await verified(await files.openUnlocked(path), opening, async () => undefined),
  };
}

async function verified(
  engine: Engine,
  options: OpenEngineOptions,
  release: () => Promise<void>,
): Promise<OpenedEngine> {
  try {
    await verifyMode(engine, options);
    return { engine, release };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/**
 * A file with two names could be opened by both, with a lock each.
 *
 * @throws {DatabasePathError} if the path is a folder, or if the file has several names.
 */
async function assertOwnable(
  files: OwnedFiles,
  path: string,
  { createIfMissing }: OpenEngineOptions,
): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) {
    if (!createIfMissing || !files.createIfMissing) throw new DatabaseNotFoundError(path);
    return;
  }
  if (found.isDirectory())
    throw new DatabasePathError(path, "a folder is in the way, and this database is a file");
  if (found.nlink > 1)
    throw new DatabasePathError(
      path,
      `the file has ${found.nlink} names (hard links), so it could be opened twice. Copy it to a file of its own, or remove the other names`,
    );
  await files.assertFile(path);
}
