import type { AtomicCheck, Kv, KvKey } from "@keywright/core";
import type { KeyId } from "./buffer/key-id.js";

export class ReadSet {
  readonly #reads = new Map<KeyId, AtomicCheck>();
  /** All reads come from one snapshot if this is at most 1. Larger numbers are not exact. */
  #snapshots = 0;
  #hasAssumption = false;

  get checks(): AtomicCheck[] {
    return [...this.#reads.values()];
  }

  /** The number of checks. */
  get size(): number {
    return this.#reads.size;
  }

  /** True if reads come from several snapshots, or some were assumed, and may be inconsistent. */
  get needsVerification(): boolean {
    return this.#reads.size > 0 && (this.#snapshots > 1 || this.#hasAssumption);
  }

  /** Returns null if the key was absent, undefined if it has not been read. */
  versionstampOf(id: KeyId): string | null | undefined {
    return this.#reads.get(id)?.versionstamp;
  }

  /** Must be called before each read that may come from another snapshot. */
  beginSnapshot(): void {
    this.#snapshots++;
  }

  /** Records a read. Returns false if an earlier read of the key had another versionstamp. */
  record(id: KeyId, key: KvKey, versionstamp: string | null): boolean {
    const before = this.#reads.get(id);
    if (before !== undefined) return before.versionstamp === versionstamp;
    this.#reads.set(id, { key, versionstamp });
    return true;
  }

  assume(id: KeyId, key: KvKey, versionstamp: string | null): boolean {
    if (!this.#reads.has(id)) this.#hasAssumption = true;
    return this.record(id, key, versionstamp);
  }

  /**
   * Reads the versionstamps again, `maxKeys` at a time, and returns whether all reads held at one
   * time. The absent keys are read first, and together, which gives that time. A present key with
   * the same versionstamp as before has had it throughout, because versionstamps never return.
   *
   * @returns undefined if this is unknown, because more keys were absent than can be read together.
   */
  async verify(kv: Kv, maxKeys: number): Promise<boolean | undefined> {
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
