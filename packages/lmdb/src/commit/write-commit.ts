import { Buffer } from "node:buffer";
import { encodeChangeRecord } from "../file/change-record.js";
import { checksumOf } from "../file/checksum-of.js";
import { encodeHead, type Head } from "../file/head.js";
import { maxKeyBytes } from "../file/page-size.js";
import { changeKey, headKey } from "../file/reserved-keys.js";
import type { LmdbStore, Tree } from "../file/tree.js";

/** A record to store under a key, or undefined to delete the key. */
interface RecordMutation {
  readonly key: Uint8Array;
  readonly record: Uint8Array | undefined;
}

/**
 * Writes the mutations of a commit, its change record and the next head in one transaction, if
 * `head` is still the newest one. Resolves when they are on disk, with false if `head` is not the
 * newest one.
 */
export async function writeCommit(
  store: LmdbStore,
  tree: Tree,
  head: Head,
  mutations: readonly RecordMutation[],
): Promise<boolean> {
  const changed = lastOfEachKey(mutations);
  const next = headAfter(head, tree, changed);
  const changes = encodeChangeRecord(next.sequence, changed);
  // An error inside the transaction would not undo the writes before it.
  const tooLong = changed.find(({ key }) => key.length > maxKeyBytes);
  if (tooLong !== undefined) throw new RangeError(`a key has ${tooLong.key.length} bytes`);
  try {
    return await store.ifVersion(headKey, head.sequence, () => {
      for (const { key, record } of changed) {
        if (record === undefined) void store.remove(key);
        else void store.put(key, record as Buffer);
      }
      void store.put(changeKey(next.sequence), changes as Buffer);
      void store.put(headKey, encodeHead(next) as Buffer);
    });
  } catch (error) {
    throw await causeOf(error);
  }
}

function lastOfEachKey(mutations: readonly RecordMutation[]): RecordMutation[] {
  const byKey = new Map<string, RecordMutation>();
  for (const mutation of mutations) {
    byKey.set(Buffer.from(mutation.key).toString("latin1"), mutation);
  }
  return byKey.size === mutations.length ? [...mutations] : [...byKey.values()];
}

/** The number of entries and the sum of their checksums follow from the replaced records. */
function headAfter(head: Head, tree: Tree, changed: readonly RecordMutation[]): Head {
  let { entries, checksums } = head;
  for (const { key, record } of changed) {
    const replaced = tree.peek(key);
    if (replaced !== undefined) {
      entries--;
      checksums -= checksumOf(replaced);
    }
    if (record !== undefined) {
      entries++;
      checksums += checksumOf(record);
    }
  }
  return { sequence: head.sequence + 1, entries, checksums: checksums >>> 0 };
}

/** `lmdb` rejects with an error whose `commitError` is a promise that rejects with the cause. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return await commitError.catch((cause: unknown) => cause);
}
