import { constants } from "node:fs";
import { copyFile, link, mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { FileFailedError } from "../errors/inspect-errors.js";
import { withTemporaryFile } from "../project/files/write-files.js";

/** Writes a new file, completely or not at all, and creates its parent folders. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await withTemporaryFile(path, async (temporary) => {
      await writeFile(temporary, text, { flag: "wx" });
      await moveToNewPath(temporary, path);
    });
  } catch (error) {
    throw new FileFailedError({ path }, error);
  }
}

/** Moves a file to a path that must not exist. A rename would replace an existing file. */
async function moveToNewPath(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    if (exists)
      throw new Error("The file already exists and was not changed. Choose another name or --out");
    // Not every file system supports hard links.
    await copyFile(temporary, path, constants.COPYFILE_EXCL);
  }
}
