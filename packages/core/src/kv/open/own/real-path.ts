import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/**
 * Returns the path of a file without symbolic links. The file and the folders above it may be
 * missing: the path is then the one at which the system would create the file, also if the name is
 * a link that leads to nothing.
 */
export async function realPath(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const parent = dirname(absolute);
  if (parent === absolute) return absolute;
  const folder = await realPath(parent);
  const target = await readlink(join(folder, basename(absolute))).catch(() => undefined);
  if (target !== undefined) return await realPath(resolve(folder, target));
  return join(folder, basename(absolute));
}
