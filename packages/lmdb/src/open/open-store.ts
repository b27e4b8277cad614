import { Buffer } from "node:buffer";
import { mkdir, open as openFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { open } from "lmdb";
import { emptyHead, encodeHead } from "../file/head.js";
import type { LmdbStore } from "../file/lmdb-store.js";
import { pageSize } from "../file/page-size.js";
import { headKey } from "../file/reserved-keys.js";

export const defaultReaders = 1024;

/** Opens the LMDB file at a path, which this process owns. Creates it if it is missing. */
export async function openStore(path: string, maxReaders: number): Promise<LmdbStore> {
  const isMissing = await stat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
  if (isMissing) await create(path);
  return openLmdb(path, { maxReaders });
}

/**
 * Creates a database under another name and gives it its name when it is complete and on disk. So a
 * power cut never leaves half a database.
 */
async function create(path: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const draft = `${path}-new`;
  const removeDraft = async () => {
    await rm(draft, { force: true });
    await rm(`${draft}-lock`, { force: true });
  };
  await removeDraft();
  try {
    const store = openLmdb(draft, {});
    try {
      await store.put(headKey, encodeHead(emptyHead) as never);
    } finally {
      await store.close();
    }
    await rename(draft, path);
    await syncFolder(folder);
  } finally {
    await removeDraft();
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

/** Opens an LMDB file. The process must own it, unless it opens it only for reads. */
export function openLmdb(
  path: string,
  options: { readonly maxReaders?: number; readonly readOnly?: boolean },
): LmdbStore {
  return open<never, Uint8Array>(path, {
    noSubdir: true,
    keyEncoder: bytesAsKeys,
    encoder: bytesAsValues,
    // Each commit is on disk before it is visible.
    overlappingSync: false,
    // With this option, `lmdb` would create a promise for each turn of the event loop. Nothing
    // handles its rejection, so a failed commit would end the process.
    eventTurnBatching: false,
    pageSize,
    maxDbs: 1,
    ...options,
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
