import { RecentCommits, type RecordMutation, textOfBytes } from "@keywright/core/engine";
import type { ChangedKeys } from "../file/changed-keys.js";

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
    const texts = new Set(counted.map(textOfBytes));
    return {
      counted,
      others: mutations.filter(({ text }) => !texts.has(text)).map(({ key }) => key),
    };
  }
}

/** Returns the last mutation of each key, in the order of the keys if there are many. */
export function lastOfEachKey(mutations: readonly RecordMutation[]): readonly RecordMutation[] {
  if (mutations.length >= fewestSorted) {
    // Neighbors are in the same page, which SQLite then finds in its cache.
    const sorted = mutations.toSorted((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
    return sorted.filter(({ text }, i) => sorted[i + 1]?.text !== text);
  }
  const byKey = new Map<string, RecordMutation>();
  for (const mutation of mutations) byKey.set(mutation.text, mutation);
  return byKey.size === mutations.length ? mutations : [...byKey.values()];
}

/** Sorting fewer mutations takes longer than it saves. */
const fewestSorted = 64;
