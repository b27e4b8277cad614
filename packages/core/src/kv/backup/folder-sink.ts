import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { InvalidOptionError } from "../../errors/core-errors.js";
import type { BackupSink } from "./backup-sink.js";

/** Files with this ending were being written when their program stopped. */
const temporary = ".tmp";

/**
 * Returns a sink that keeps each object in a file of a folder. The folder is created with the first
 * object. A file is written under another name, synced and renamed.
 *
 * @throws {InvalidOptionError} if the path is empty.
 */
export function folderSink(path: string): BackupSink {
  if (typeof path !== "string" || path === "")
    throw new InvalidOptionError("path", "must be the path of a folder", "folderSink");
  const folder = resolve(path);
  /** The folders that exist, and whose names are on disk. */
  const made = new Set<string>();
  const make = async (each: string): Promise<void> => {
    if (made.has(each)) return;
    const first = await mkdir(each, { recursive: true });
    // The name of a new folder is in its parent.
    if (first !== undefined) {
      for (let at = each; at !== dirname(first); at = dirname(at)) await sync(dirname(at));
    }
    made.add(each);
  };
  return {
    async put(name, bytes) {
      const file = join(folder, ...name.split("/"));
      await make(dirname(file));
      const unfinished = `${file}.${randomUUID()}${temporary}`;
      try {
        const handle = await open(unfinished, "wx");
        try {
          await handle.writeFile(bytes);
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(unfinished, file);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
      await sync(dirname(file));
    },
    async get(name) {
      return await unlessAbsent(() => readFile(join(folder, ...name.split("/"))));
    },
    async list(prefix) {
      const found = await unlessAbsent(() =>
        readdir(folder, { recursive: true, withFileTypes: true }),
      );
      return (found ?? [])
        .filter((each) => each.isFile() && !each.name.endsWith(temporary))
        .map((each) => relative(folder, join(each.parentPath, each.name)).split(sep).join("/"))
        .filter((name) => name.startsWith(prefix));
    },
    async delete(name) {
      await rm(join(folder, ...name.split("/")), { force: true });
    },
  };
}

/** Syncs a folder, so that the names in it survive a power cut. */
async function sync(folder: string): Promise<void> {
  // Windows cannot open a folder. Its file system keeps names without this.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function unlessAbsent<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
