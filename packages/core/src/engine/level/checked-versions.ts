import type { StoredEntry } from "../engine.js";

/** What a check has to know of an entry. */
export type EntryVersion = Pick<StoredEntry, "versionstamp" | "expireAt">;

/** So many are remembered. */
const most = 1024;

/**
 * The versions of entries that checks have read and no commit has changed since, by the texts of their keys. A key that
 * every commit checks, such as one that says which schema holds, is read from the database once.
 */
export class CheckedVersions {
  readonly #versions = new Map<string, EntryVersion>();

  get(text: string): EntryVersion | undefined {
    return this.#versions.get(text);
  }

  add(text: string, { versionstamp, expireAt }: EntryVersion): void {
    if (this.#versions.size === most) {
      for (const oldest of this.#versions.keys()) {
        this.#versions.delete(oldest);
        break;
      }
    }
    this.#versions.set(text, { versionstamp, expireAt });
  }

  /** The entry of a key is about to change. */
  forget(text: string): void {
    this.#versions.delete(text);
  }
}
