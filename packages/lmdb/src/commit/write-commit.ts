import type { Buffer } from "node:buffer";
import { statfs } from "node:fs/promises";
import { checksumOf } from "@keywright/core/engine";
import { encodeHead, type Head } from "../file/head.js";
import type { LmdbStore } from "../file/lmdb-store.js";
import { maxKeyBytes } from "../file/page-size.js";
import { headKey } from "../file/reserved-keys.js";
import type { Tree } from "../file/tree.js";

/** A record to store under a key, or undefined to delete the key. */
interface RecordMutation {
  readonly key: Uint8Array;
  /** A text that only this key has. */
  readonly text: string;
  readonly record: Uint8Array | undefined;
}

interface CommitTarget {
  readonly store: LmdbStore;
  readonly tree: Tree;
  readonly path: string;
  /** The texts of keys that are known to have no record, which need not be read again. */
  readonly absent: ReadonlySet<string>;
}

/**
 * Writes the mutations of a commit and the next head in one transaction. Resolves with the next
 * head when they are on disk. LMDB compares the sequence of the stored head inside the transaction.
 *
 * @throws if LMDB fails, or if the stored head is another one than `head`.
 */
export async function writeCommit(
  { store, tree, path, absent }: CommitTarget,
  head: Head,
  mutations: readonly RecordMutation[],
): Promise<Head> {
  const changed = lastOfEachKey(mutations);
  const { next, writes } = planWrites(head, { tree, absent }, changed);
  // An error inside the transaction would not undo the writes before it.
  const tooLong = changed.find(({ key }) => key.length > maxKeyBytes);
  if (tooLong !== undefined) throw new RangeError(`a key has ${tooLong.key.length} bytes`);
  const isNewest = await write(store, head, next, writes).catch(async (error: unknown) => {
    throw await diskFullOr(await causeOf(error), path);
  });
  if (isNewest) return next;
  throw new Error(
    "another program has written to the file, which an earlier version of Keywright does",
  );
}

/** Resolves with false if the stored head is another one than `head`. */
async function write(
  store: LmdbStore,
  head: Head,
  next: Head,
  writes: readonly RecordMutation[],
): Promise<boolean> {
  return await store.ifVersion(headKey, head.sequence, () => {
    for (const { key, record } of writes) {
      if (record === undefined) void store.remove(key);
      else void store.put(key, record as Buffer);
    }
    void store.put(headKey, encodeHead(next) as Buffer);
  });
}

function lastOfEachKey(mutations: readonly RecordMutation[]): RecordMutation[] {
  const byKey = new Map<string, RecordMutation>();
  for (const mutation of mutations) byKey.set(mutation.text, mutation);
  return byKey.size === mutations.length ? [...mutations] : [...byKey.values()];
}

/**
 * Returns the next head, and the mutations without deletes of keys that have no record. The number
 * of entries and the sum of their checksums follow from the replaced records.
 */
function planWrites(
  head: Head,
  { tree, absent }: Pick<CommitTarget, "tree" | "absent">,
  changed: readonly RecordMutation[],
): { readonly next: Head; readonly writes: readonly RecordMutation[] } {
  let { entries, checksums } = head;
  const writes: RecordMutation[] = [];
  for (const mutation of changed) {
    const { key, text, record } = mutation;
    const replaced = absent.has(text) ? undefined : tree.peek(key);
    if (replaced !== undefined) {
      entries--;
      checksums -= checksumOf(replaced);
    } else if (record === undefined) continue;
    if (record !== undefined) {
      entries++;
      checksums += checksumOf(record);
    }
    writes.push(mutation);
  }
  const next = { sequence: head.sequence + 1, entries, checksums: checksums >>> 0 };
  return { next, writes };
}

/** `lmdb` rejects with an error whose `commitError` is a promise that rejects with the cause. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return await commitError.catch((cause: unknown) => cause);
}

/** The codes of `errno.h` that LMDB reports. A write that is cut short is `EIO`. */
const inputOutput = 5;
const noSpace = 28;
/** A disk with less free space than this is full for LMDB, which writes whole pages. */
const fullBelow = 1024 * 1024;

/** Returns the error of a full disk instead of the one of LMDB, if the disk is full. */
async function diskFullOr(cause: unknown, path: string): Promise<unknown> {
  const { code } = cause as { readonly code?: unknown };
  const isFull = code === noSpace || (code === inputOutput && (await freeBytes(path)) < fullBelow);
  if (!isFull) return cause;
  const error = new Error(`No space left on device: ${path}`, { cause });
  return Object.assign(error, { code: "ENOSPC" });
}

async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
