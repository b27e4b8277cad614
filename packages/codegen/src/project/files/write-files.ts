import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The path lacks the name of the file, which may already have the maximum length. */
function temporaryPath(path: string): string {
  return join(dirname(path), `.keywright-${randomUUID()}.tmp`);
}

/**
 * Passes a temporary path in the folder of a file to `use`, which writes it and moves it to the
 * file. Removes what is left at the temporary path, also if the process exits before it has
 * finished.
 */
export async function withTemporaryFile<T>(
  path: string,
  use: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = temporaryPath(path);
  const remove = () => {
    try {
      rmSync(temporary, { force: true });
    } catch {
      // An earlier error is more useful than this one.
    }
  };
  // A second Ctrl-C ends the process without running the `finally` block.
  process.on("exit", remove);
  try {
    return await use(temporary);
  } finally {
    remove();
    process.off("exit", remove);
  }
}

/**
 * Writes files in order, each completely or not at all, and creates their folders. All texts are
 * first written to temporary files, which then replace the files one by one. If a path is a link,
 * the link stays and its target is replaced.
 *
 * @param failed returns the error to throw if the file system refuses a file. Then the temporary
 * files are removed, and also the new folders if no file was replaced. Files that were replaced
 * stay.
 */
export async function writeFiles(
  files: readonly { readonly path: string; readonly text: string }[],
  failed: (path: string, cause: unknown) => Error,
): Promise<void> {
  const createdFolders: string[] = [];
  const temporary: { readonly path: string; readonly from: string; readonly to: string }[] = [];
  let isReplacing = false;
  let path = "";
  try {
    for (const file of files) {
      ({ path } = file);
      const created = await mkdir(dirname(path), { recursive: true });
      if (created !== undefined) createdFolders.push(created);
      const to = await realpath(path).catch(() => path);
      const from = temporaryPath(to);
      temporary.push({ path, from, to });
      await writeFile(from, file.text);
    }
    isReplacing = true;
    for (const { from, to, ...file } of temporary) {
      ({ path } = file);
      await rename(from, to);
    }
  } catch (error) {
    for (const { from } of temporary) await rm(from, { force: true });
    const unused = isReplacing ? [] : createdFolders;
    for (const folder of unused) await rm(folder, { recursive: true, force: true });
    throw failed(path, error);
  }
}
