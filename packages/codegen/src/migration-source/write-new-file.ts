import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FileFailedError } from "../errors/inspect-errors.js";

/**
 * Writes a file that is new, whole or not at all, and makes the folders that lead to it.
 *
 * @throws {FileFailedError} where there is something at its place already, which stays, and where the file system refuses.
 */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `keywright-${randomUUID()}.tmp`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(temporary, text, { flag: "wx" });
    await takePlace(temporary, path);
  } catch (error) {
    throw new FileFailedError(path, error);
  } finally {
    // What was thrown before says more.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** A rename would replace what is there. */
async function takePlace(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    if (isThere) throw new Error("There is something already, and it stays as it is");
    // Not every file system has links.
    await copyFile(temporary, path, constants.COPYFILE_EXCL);
  }
}
