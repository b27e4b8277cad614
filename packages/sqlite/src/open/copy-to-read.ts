import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/**
 * Copies a file and its log into a temporary folder. SQLite locks a file in WAL mode by another
 * file next to it, which a read-only file system lacks. No program can write there, so the copy is
 * one state.
 */
export async function copyToRead(
  path: string,
): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "keywright-read-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, basename(path));
    await copyFile(path, copy);
    await copyFile(`${path}-wal`, `${copy}-wal`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    return { path: copy, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
