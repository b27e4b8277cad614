import { randomUUID } from "node:crypto";
import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ProjectFileError } from "../errors/codegen-errors.js";
import type { PlannedFile } from "./plan-files.js";

/**
 * Writes files in order, each completely or not at all. All of them are first written to temporary
 * files, which are then renamed.
 *
 * @throws {ProjectFileError} if the file system refuses. Temporary files are removed, and also new
 * folders if renaming had not begun. Files that were renamed before stay.
 */
export async function writeFiles(files: readonly PlannedFile[]): Promise<void> {
  const createdFolders: string[] = [];
  const temporary: { readonly from: string; readonly to: string }[] = [];
  try {
    for (const { path, state, text } of files) {
      await attempt(path, async () => {
        const created = await mkdir(dirname(path), { recursive: true });
        if (created !== undefined) createdFolders.push(created);
        // If the path is a link, the link stays and its target is replaced.
        const to = state === "changed" ? await realpath(path) : path;
        const from = `${to}.${randomUUID()}.tmp`;
        temporary.push({ from, to });
        await writeFile(from, text);
      });
    }
  } catch (error) {
    for (const { from } of temporary) await rm(from, { force: true });
    for (const created of createdFolders) await rm(created, { recursive: true, force: true });
    throw error;
  }
  try {
    for (const { from, to } of temporary) await attempt(to, () => rename(from, to));
  } catch (error) {
    for (const { from } of temporary) await rm(from, { force: true });
    throw error;
  }
}

async function attempt(path: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    throw new ProjectFileError(path, error);
  }
}
