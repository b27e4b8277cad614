import type { StoredEntry } from "../engine.js";

/** The part of an entry that a check needs. */
export type EntryVersion = Pick<StoredEntry, "versionstamp" | "expireAt">;

/** The maximum number of versions that are remembered. */
const most = 1024;

/**
 * The versions of entries that checks have read and that no commit has changed since, by the texts
 * of their keys. A key that every commit checks, such as that of the schema epoch, is read from the
 * database only once.
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

  /** Removes the version of a key whose entry is about to change. */
  forget(text: string): void {
    this.#versions.delete(text);
  }
}
