import type { KvEntryMaybe } from "@keywright/core";
import { copyStored } from "../model/rows/copy-of-data.js";
import { isU64Like } from "./buffer/buffered-write.js";
import { copyOfKey, type KeyId } from "./buffer/key-id.js";

/** Limits the memory of a transaction that reads many entries. It reads the others again. */
const maxEntries = 5000;

/** Entries that a transaction has read. Their readers may change the values that they get. */
export class KnownEntries {
  readonly #entries = new Map<KeyId, KvEntryMaybe<unknown>>();

  /** Returns a copy of an entry, or undefined if it is not known. */
  get(id: KeyId): KvEntryMaybe<unknown> | undefined {
    const entry = this.#entries.get(id);
    return entry && copyOf(entry);
  }

  add(id: KeyId, entry: KvEntryMaybe<unknown>): void {
    if (this.#entries.size < maxEntries) this.#entries.set(id, copyOf(entry));
  }
}

function copyOf(entry: KvEntryMaybe<unknown>): KvEntryMaybe<unknown> {
  // Each database has its own class of numbers, which a copy would lose. They do not change.
  const value = isU64Like(entry.value) ? entry.value : copyStored(entry.value);
  const key = copyOfKey(entry.key);
  if (entry.versionstamp === null) return { ...entry, key };
  // A spread leaves out `expireAt` of an entry of compat mode, where it is not enumerable.
  const { versionstamp, expireAt } = entry;
  return expireAt === undefined
    ? { key, value, versionstamp }
    : { key, value, versionstamp, expireAt };
}
