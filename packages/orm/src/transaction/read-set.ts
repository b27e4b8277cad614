import type { AtomicCheck, Kv, KvKey } from "@keywright/core";
import type { KeyId } from "./key-id.js";

/** What a transaction has read from the database: which keys, and their versionstamps. */
export class ReadSet {
  readonly #reads = new Map<KeyId, AtomicCheck>();
  /** How many snapshots of the database the reads are from, at the least. */
  #snapshots = 0;
  #hasBelief = false;

  /** The conditions under which the transaction may be committed: one for each key. */
  get checks(): AtomicCheck[] {
    return [...this.#reads.values()];
  }

  /** Whether reads might not fit together: they are from one snapshot otherwise, and nothing was taken on trust. */
  get needsVerification(): boolean {
    return this.#reads.size > 0 && (this.#snapshots > 1 || this.#hasBelief);
  }

  /** The versionstamp that a key had, null where it was absent, undefined where it has not been read. */
  versionstampOf(id: KeyId): string | null | undefined {
    return this.#reads.get(id)?.versionstamp;
  }

  /** Says that what is recorded from here on is from another snapshot. */
  beginSnapshot(): void {
    this.#snapshots++;
  }

  /** Records a read. False where the key had another versionstamp when it was read before. */
  record(id: KeyId, key: KvKey, versionstamp: string | null): boolean {
    const before = this.#reads.get(id);
    if (before !== undefined) return before.versionstamp === versionstamp;
    this.#reads.set(id, { key, versionstamp });
    return true;
  }

  /** Records what was not read, and has to hold at the commit. False as {@link record}. */
  believe(id: KeyId, key: KvKey, versionstamp: string | null): boolean {
    if (!this.#reads.has(id)) this.#hasBelief = true;
    return this.record(id, key, versionstamp);
  }

  /**
   * Whether all reads held at one time: their versionstamps are read again, `maxKeys` at a time. The absent keys come first
   * and together, at that time; of the others, what has the same versionstamp as before has had it all the while, as a
   * versionstamp never comes back.
   *
   * @returns undefined where that cannot be told: more keys were absent than are read together.
   */
  async hold(kv: Kv, maxKeys: number): Promise<boolean | undefined> {
    const checks = this.checks;
    const absent = checks.filter(({ versionstamp }) => versionstamp === null);
    if (absent.length > maxKeys) return undefined;
    const present = checks.filter(({ versionstamp }) => versionstamp !== null);
    const ordered = [...absent, ...present];
    for (let from = 0; from < ordered.length; from += maxKeys) {
      const chunk = ordered.slice(from, from + maxKeys);
      const entries = await kv.getMany<unknown[]>(chunk.map(({ key }) => key));
      if (entries.some((entry, i) => entry.versionstamp !== chunk[i]?.versionstamp)) return false;
    }
    return true;
  }
}
