import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { link, mkdir, open as openFile, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseNotFoundError, DatabasePathError } from "@keywright/core";
import { isCreationAllowed } from "@keywright/core/engine";
import { open } from "lmdb";
import { openingFailure } from "../errors/lmdb-failure.js";
import { emptyHead, encodeHead } from "../file/head.js";
import { pageSize } from "../file/page-size.js";
import { headKey } from "../file/reserved-keys.js";
import type { LmdbStore } from "../file/tree.js";
import { assertLmdbFile } from "./assert-lmdb-file.js";
import type { LmdbOptions } from "./lmdb-options.js";

const defaultReaders = 1024;

/** Opens the LMDB file at an absolute path. Creates it if it is missing and may be created. */
export async function openStore(path: string, options: LmdbOptions): Promise<LmdbStore> {
  const maxReaders = options.maxReaders ?? defaultReaders;
  try {
    if (!(await exists(path))) {
      if (options.createIfMissing === false || !isCreationAllowed())
        throw new DatabaseNotFoundError(path);
      await create(path, maxReaders);
    }
    await assertLmdbFile(path);
    return openLmdb(path, maxReaders);
  } catch (error) {
    throw openingFailure(error, path);
  }
}

async function exists(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found?.isDirectory())
    throw new DatabasePathError(path, "a folder is in the way, and an LMDB database is a file");
  return found !== undefined;
}

/**
 * Creates a database under another name and gives it its name when it is complete and on disk. So
 * neither a power cut nor another process finds half a database.
 */
async function create(path: string, maxReaders: number): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const draft = `${path}-new-${randomBytes(6).toString("hex")}`;
  try {
    const store = openLmdb(draft, maxReaders);
    try {
      await store.put(headKey, encodeHead(emptyHead) as never);
    } finally {
      await store.close();
    }
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      // Another process has created the database meanwhile.
      if (error.code !== "EEXIST") throw error;
    });
    await syncFolder(folder);
  } finally {
    await rm(draft, { force: true });
    await rm(`${draft}-lock`, { force: true });
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows cannot sync a folder.
  if (process.platform === "win32") return;
  const handle = await openFile(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function openLmdb(path: string, maxReaders: number): LmdbStore {
  return open<never, Uint8Array>(path, {
    noSubdir: true,
    keyEncoder: bytesAsKeys,
    encoder: bytesAsValues,
    // Each commit is on disk before it is visible. With overlapping syncs, a process that opens the
    // database between a commit and its sync may overwrite pages that a power cut makes current
    // again.
    overlappingSync: false,
    pageSize,
    maxDbs: 1,
    maxReaders,
  } as never) as unknown as LmdbStore;
}

/** Keys are bytes. The ones that are read share memory, which is faster to create. */
const bytesAsKeys = {
  writeKey: (key: Uint8Array, target: Uint8Array, start: number): number => {
    target.set(key, start);
    return start + key.length;
  },
  readKey: (source: Uint8Array, start: number, end: number): Buffer =>
    copyOf(source, start, end - start),
};

/** Values are bytes. They are copied, because `lmdb` uses one buffer for all reads. */
const bytesAsValues = {
  encode: (value: Uint8Array): Uint8Array => value,
  decode: (value: Uint8Array): Buffer => copyOf(value, 0, value.length),
};

function copyOf(source: Uint8Array, start: number, size: number): Buffer {
  const copy = Buffer.allocUnsafe(size);
  copy.set(new Uint8Array(source.buffer, source.byteOffset + start, size));
  return copy;
}
