import { Buffer } from "node:buffer";
import { RecentCommits } from "@keywright/core/engine";
import type { ChangedKeys } from "../file/changed-keys.js";

/** A record to store under a key, or undefined to delete the key. */
export interface RecordMutation {
  readonly key: Uint8Array;
  readonly record: Uint8Array | undefined;
}

/**
 * The keys that the latest commits of all processes have changed, and those of the group that is
 * being applied.
 */
export class LatestCommits extends RecentCommits {
  #group: Uint8Array[] = [];

  /** Begins a group. */
  begin(): void {
    this.#group = [];
  }

  override add(versionstamp: string, keys: readonly Uint8Array[]): void {
    super.add(versionstamp, keys);
    for (const key of keys) this.#group.push(key);
  }

  /** Adds a group of another process. */
  addFollowed(versionstamp: string, keys: readonly Uint8Array[]): void {
    super.add(versionstamp, keys);
  }

  /** Returns the keys of the group whose mutations these are. */
  changedBy(mutations: readonly RecordMutation[]): ChangedKeys {
    const counted = this.#group;
    const others = mutations.filter(({ key }) => key[0] === 0).map(({ key }) => key);
    if (counted.length + others.length === mutations.length) return { counted, others };
    // Entries were removed because they had expired.
    const texts = new Set(counted.map(textOf));
    return {
      counted,
      others: mutations.filter(({ key }) => !texts.has(textOf(key))).map(({ key }) => key),
    };
  }
}

/** Returns the last mutation of each key, in the order of the keys if there are many. */
export function lastOfEachKey(mutations: readonly RecordMutation[]): readonly RecordMutation[] {
  const byKey = new Map<string, RecordMutation>();
  for (const mutation of mutations) byKey.set(textOf(mutation.key), mutation);
  const last = byKey.size === mutations.length ? mutations : [...byKey.values()];
  if (last.length < fewest) return last;
  // Neighbors are in the same page, which SQLite then finds in its cache.
  return last.toSorted((a, b) => Buffer.compare(a.key, b.key));
}

/** Sorting fewer mutations takes longer than it saves. */
const fewest = 64;

function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}
