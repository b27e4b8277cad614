import { randomUUID } from "node:crypto";
import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ProjectFileError } from "../errors/codegen-errors.js";
import type { PlannedFile } from "./plan-files.js";

/**
 * Writes files, each whole or not at all: all of them beside their places first, then each into its place, in their order.
 *
 * @throws {ProjectFileError} where the file system refuses. What was made until then is removed, unless it is in its place.
 */
export async function writeFiles(files: readonly PlannedFile[]): Promise<void> {
  const madeFolders: string[] = [];
  const temporary: { readonly from: string; readonly to: string }[] = [];
  try {
    for (const { path, state, text } of files) {
      await attempt(path, async () => {
        const made = await mkdir(dirname(path), { recursive: true });
        if (made !== undefined) madeFolders.push(made);
        // A link stays one: what it leads to is replaced.
        const to = state === "changed" ? await realpath(path) : path;
        const from = `${to}.${randomUUID()}.tmp`;
        temporary.push({ from, to });
        await writeFile(from, text);
      });
    }
  } catch (error) {
    for (const { from } of temporary) await rm(from, { force: true });
    for (const made of madeFolders) await rm(made, { recursive: true, force: true });
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
