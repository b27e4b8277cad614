import { createHash } from "#platform";
import { DatabaseChangedError } from "../../errors/copy-errors.js";
import { encodeEntryKey } from "../../keys/encode-key.js";
import type { KvEntry } from "../kv.js";

/**
 * What one listing of a database found. If a later listing finds the same, the database had exactly
 * these entries at the time between the two, apart from entries that were both created and deleted
 * between the reads of their places. A versionstamp never comes back, so an entry that has the same
 * one in both has not changed in between.
 */
export class Listing {
  readonly #expireIn: (entry: KvEntry<unknown>) => number | undefined;
  /** Of the keys and versionstamps of the entries that do not expire, in key order. */
  readonly #digest = createHash("sha256");
  #newest = "";

  /** @param expireIn returns anything but undefined if an entry may expire. */
  constructor(expireIn: (entry: KvEntry<unknown>) => number | undefined = () => undefined) {
    this.#expireIn = expireIn;
  }

  /** Returns an empty listing with the same rules. */
  again(): Listing {
    return new Listing(this.#expireIn);
  }

  /** Adds the next entry, in key order. */
  add(entry: KvEntry<unknown>): void {
    const { key, versionstamp, expireAt } = entry;
    if (versionstamp > this.#newest) this.#newest = versionstamp;
    // An entry that expires may be absent later although no program has deleted it.
    if (expireAt !== undefined || this.#expireIn(entry) !== undefined) return;
    this.#digest.update(versionstamp).update(encodeEntryKey(key));
  }

  /**
   * Compares the complete listing with a complete later one.
   *
   * @throws {DatabaseChangedError} if the database has changed since this listing began.
   */
  assertSameIn(later: Listing, operation: DatabaseChangedError["operation"]): void {
    const isSame = this.#digest.digest("hex") === later.#digest.digest("hex");
    if (!isSame || later.#newest > this.#newest) throw new DatabaseChangedError(operation);
  }
}
