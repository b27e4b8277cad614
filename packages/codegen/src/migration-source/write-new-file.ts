import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FileFailedError } from "../errors/inspect-errors.js";

/**
 * Writes a new file, completely or not at all, and creates its parent folders.
 *
 * @throws {FileFailedError} if the path already exists, which is then left unchanged, or if the
 * file system refuses an operation.
 */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `keywright-${randomUUID()}.tmp`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(temporary, text, { flag: "wx" });
    await moveToNewPath(temporary, path);
  } catch (error) {
    throw new FileFailedError(path, error);
  } finally {
    // An earlier error is more useful than one from this cleanup.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** Moves a file to a path that must not exist. A rename would replace an existing file. */
async function moveToNewPath(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    if (exists) throw new Error("There is something already, and it stays as it is");
    // Not every file system supports hard links.
    await copyFile(temporary, path, constants.COPYFILE_EXCL);
  }
}
