import { randomUUID } from "node:crypto";
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { InvalidOptionError } from "../../errors/core-errors.js";
import type { BackupSink } from "./backup-sink.js";

/** Files with this ending are being written, or were when their program stopped. */
const temporary = ".tmp";
const temporaryName = /\.[0-9a-f-]{36}\.tmp$/;
const generationName = /^\d{8}-[0-9a-f]{8}$/;
/** No object takes so many milliseconds to be written. */
const longestPut = 24 * 60 * 60 * 1000;
const mostAttempts = 5;

/**
 * Returns a sink that keeps each object in a file of a folder. The folder is created with the first
 * object. A file is written under another name, synced and renamed.
 *
 * @throws {InvalidOptionError} if the path is empty. The calls of the sink throw it if the path is
 * that of a file.
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
  /** Creates a file in its folder, which another program may remove while it is empty. */
  const create = async (file: string): Promise<FileHandle> => {
    for (let attempt = 1; ; attempt++) {
      try {
        await make(dirname(file));
        return await open(file, "wx");
      } catch (error) {
        await assertFolder(folder);
        if (codeOf(error) !== "ENOENT" || attempt === mostAttempts) throw error;
        made.clear();
      }
    }
  };
  return {
    async put(name, bytes) {
      const file = join(folder, ...name.split("/"));
      const unfinished = `${file}.${randomUUID()}${temporary}`;
      const handle = await create(unfinished);
      try {
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
      return await unlessAbsent(folder, () => readFile(join(folder, ...name.split("/"))));
    },
    async list(prefix) {
      return await namesIn(folder, "", prefix);
    },
    async delete(name) {
      const file = join(folder, ...name.split("/"));
      await unlessAbsent(folder, () => rm(file));
      if (dirname(file) !== folder) await removeIfEmpty(dirname(file));
    },
    async removeRemains() {
      await removeRemainsIn(folder, Date.now() - longestPut);
    },
  };
}

/**
 * Removes the files of interrupted calls of `put`, and the folders in the folder that are empty, if
 * nothing was written to them since a time.
 */
async function removeRemainsIn(folder: string, oldest: number): Promise<void> {
  const isOld = async (path: string) => {
    const found = await unlessAbsent(folder, () => stat(path));
    return found !== undefined && found.mtimeMs < oldest;
  };
  const found = (await unlessAbsent(folder, () => readdir(folder, { withFileTypes: true }))) ?? [];
  for (const each of found) {
    const path = join(folder, each.name);
    if (each.isFile() && temporaryName.test(each.name)) {
      if (await isOld(path)) await rm(path, { force: true });
    } else if (each.isDirectory() && generationName.test(each.name)) {
      const wasOld = await isOld(path);
      await removeRemainsIn(path, oldest);
      if (wasOld) await removeIfEmpty(path);
    }
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(codeOf(error))) throw error;
  }
}

/** Returns the names of the files in a folder and in those of its folders that can have some. */
async function namesIn(folder: string, start: string, prefix: string): Promise<string[]> {
  const found = (await unlessAbsent(folder, () => readdir(folder, { withFileTypes: true }))) ?? [];
  const names: string[] = [];
  for (const each of found) {
    const name = `${start}${each.name}`;
    if (each.isFile()) {
      if (name.startsWith(prefix) && !name.endsWith(temporary)) names.push(name);
    } else if (each.isDirectory()) {
      const inside = `${name}/`;
      if (inside.startsWith(prefix) || prefix.startsWith(inside))
        names.push(...(await namesIn(join(folder, each.name), inside, prefix)));
    }
  }
  return names;
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

async function unlessAbsent<T>(folder: string, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    await assertFolder(folder);
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** @throws {InvalidOptionError} if the path is that of a file. */
async function assertFolder(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => codeOf(error));
  const isFile = typeof found === "string" ? found === "ENOTDIR" : !found.isDirectory();
  if (isFile)
    throw new InvalidOptionError("path", `must be that of a folder: ${path} is none`, "folderSink");
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}
