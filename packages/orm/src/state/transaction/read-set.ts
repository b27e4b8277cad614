import type { AtomicCheck, Kv, KvKey } from "@keywright/core";
import type { KeyId } from "./buffer/key-id.js";
import type { ReadRanges } from "./read-ranges.js";

/** What a transaction has read, and what its commit therefore checks. */
export class ReadSet {
  readonly #reads = new Map<KeyId, AtomicCheck>();
  /** Reads that the check of a range covers, so that they need none of their own. */
  readonly #covered = new Map<KeyId, string | null>();
  /** Undefined if the transaction does not read one state of the database. */
  ranges: ReadRanges | undefined;
  /** All reads come from one snapshot if this is at most 1. Larger numbers are not exact. */
  #snapshots = 0;
  #hasAssumption = false;

  get checks(): AtomicCheck[] {
    return [...this.#reads.values()];
  }

  /** The ids of the keys that were read, alone or in ranges. */
  get ids(): Set<KeyId> {
    return new Set([...this.#reads.keys(), ...this.#covered.keys()]);
  }

  /** The number of checks of keys. */
  get size(): number {
    return this.#reads.size;
  }

  /** True if reads come from several snapshots, or some were assumed, and may be inconsistent. */
  get needsVerification(): boolean {
    return this.#reads.size > 0 && (this.#snapshots > 1 || this.#hasAssumption);
  }

  /** Returns null if the key was absent, undefined if it has not been read. */
  versionstampOf(id: KeyId): string | null | undefined {
    return this.#reads.has(id) ? this.#reads.get(id)!.versionstamp : this.#covered.get(id);
  }

  /** Must be called before each read that may come from another snapshot. */
  beginSnapshot(): void {
    this.#snapshots++;
  }

  /** Records a read. Returns false if an earlier read of the key had another versionstamp. */
  record(id: KeyId, key: KvKey, versionstamp: string | null): boolean {
    const before = this.versionstampOf(id);
    if (before !== undefined) return before === versionstamp;
    this.#reads.set(id, { key, versionstamp });
    return true;
  }

  /** Records a read that the check of a range covers. Returns what {@link record} does. */
  recordCovered(id: KeyId, versionstamp: string | null): boolean {
    const before = this.versionstampOf(id);
    if (before !== undefined) return before === versionstamp;
    this.#covered.set(id, versionstamp);
    return true;
  }

  assume(id: KeyId, key: KvKey, versionstamp: string | null): boolean {
    if (this.versionstampOf(id) === undefined) this.#hasAssumption = true;
    return this.record(id, key, versionstamp);
  }

  /**
   * Reads the versionstamps again, `maxKeys` at a time, and returns whether all reads held at one
   * time. The absent keys are read first, and together, which gives that time. A present key with
   * the same versionstamp as before has had it throughout, because versionstamps never return.
   *
   * @param kv the state that the transaction has read, if it is one, or else the database.
   * @returns undefined if this is unknown, because more keys were absent than can be read together.
   */
  async verify(kv: Pick<Kv, "getMany">, maxKeys: number): Promise<boolean | undefined> {
    const checks = this.checks;
    const absent = checks.filter(({ versionstamp }) => versionstamp === null);
    if (absent.length > maxKeys && this.ranges === undefined) return undefined;
    const present = checks.filter(({ versionstamp }) => versionstamp !== null);
    const ordered = [...absent, ...present];
    for (let from = 0; from < ordered.length; from += maxKeys) {
      const chunk = ordered.slice(from, from + maxKeys);
      const entries = await kv.getMany<unknown[]>(chunk.map(({ key }) => key));
      if (entries.some((entry, i) => entry.versionstamp !== chunk[i]?.versionstamp)) return false;
    }
    return true;
  }

  /** Returns the key of the first read that no longer holds, or the first parts of its keys. */
  async firstChanged(
    kv: Pick<Kv, "getMany" | "atomic">,
    maxKeys: number,
  ): Promise<KvKey | undefined> {
    const { checks } = this;
    for (let from = 0; from < checks.length; from += maxKeys) {
      const chunk = checks.slice(from, from + maxKeys);
      const entries = await kv.getMany<unknown[]>(chunk.map(({ key }) => key));
      const changed = chunk.find((check, i) => entries[i]?.versionstamp !== check.versionstamp);
      if (changed !== undefined) return changed.key;
    }
    return await this.ranges?.firstChanged(kv);
  }
}
