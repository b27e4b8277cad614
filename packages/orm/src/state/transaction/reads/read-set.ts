import type { AtomicCheck, KeyOrder, Kv, KvKey, KvListedEntry } from "@keywright/core";
import { copyOfKey, type KeyId, keyIdOf } from "../buffer/key-id.js";
import type { IdRange } from "../buffer/list-range.js";
import type { ReadRanges } from "./read-ranges.js";

/** Entries of the state that a transaction reads. Their keys are within `range`. */
export interface ReadPage {
  readonly range: IdRange;
  readonly entries: readonly KvListedEntry[];
  /** True if the check of a range covers the entries. */
  readonly isCovered: boolean;
}

/** With more reads than this, it takes too long to find those within a page. */
const maxCompared = 100;
/** With more pages than this, it takes too long to find those that have a key. */
const maxPages = 100;
/** With more entries than this in pages, their values take too much memory. */
const maxEntries = 5000;

/** What a transaction has read, and what its commit therefore checks. */
export class ReadSet {
  readonly #order: KeyOrder;
  readonly #reads = new Map<KeyId, AtomicCheck>();
  /** Reads that the check of a range covers, so that they need none of their own. */
  readonly #covered = new Map<KeyId, string | null>();
  /**
   * Pages of which no entry is recorded yet. Most transactions never need the ids of these entries,
   * and those that write nothing need no checks. When a page was added, no read was within its
   * range, and pages come from one state. So they cannot differ from what is recorded.
   */
  #pages: ReadPage[] = [];
  /** Undefined if the transaction does not read one state of the database. */
  ranges: ReadRanges | undefined;
  /** All reads come from one snapshot if this is at most 1. Larger numbers are not exact. */
  #snapshots = 0;
  #hasAssumption = false;

  constructor(order: KeyOrder) {
    this.#order = order;
  }

  get checks(): AtomicCheck[] {
    this.#recordChecked();
    return [...this.#reads.values()];
  }

  /** The ids of the keys that were read, alone or in ranges. */
  get ids(): Set<KeyId> {
    this.#recordPages(() => true);
    return new Set([...this.#reads.keys(), ...this.#covered.keys()]);
  }

  /** The number of checks of keys. */
  get size(): number {
    this.#recordChecked();
    return this.#reads.size;
  }

  /** True if reads come from several snapshots, or some were assumed, and may be inconsistent. */
  get needsVerification(): boolean {
    return this.#reads.size > 0 && (this.#snapshots > 1 || this.#hasAssumption);
  }

  /** Returns null if the key was absent, undefined if it has not been read. */
  versionstampOf(id: KeyId): string | null | undefined {
    this.#recordPages(({ range }) => isWithin(id, range));
    return this.#recordedOf(id);
  }

  #recordedOf(id: KeyId): string | null | undefined {
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

  /**
   * Records entries of the state that the transaction reads. Returns false if an earlier read of
   * one of them had another versionstamp.
   */
  recordPage(page: ReadPage): boolean {
    if (this.#mayHaveReadWithin(page)) {
      if (!page.isCovered) this.#recordPages((other) => other.isCovered && overlap(other, page));
      return this.#recordEach(page);
    }
    this.#pages.push(page);
    const entries = this.#pages.reduce((sum, each) => sum + each.entries.length, 0);
    if (this.#pages.length > maxPages || entries > maxEntries) this.#recordPages(() => true);
    return true;
  }

  #mayHaveReadWithin({ range }: ReadPage): boolean {
    if (this.#reads.size > maxCompared) return true;
    for (const id of this.#reads.keys()) if (isWithin(id, range)) return true;
    return false;
  }

  /** Records the pages that tell which checks of keys are necessary. */
  #recordChecked(): void {
    const others = this.#pages.filter(({ isCovered }) => !isCovered);
    this.#recordPages((page) => needsChecks(page) || others.some((other) => overlap(other, page)));
  }

  #recordPages(isWanted: (page: ReadPage) => boolean): void {
    if (!this.#pages.some(isWanted)) return;
    const wanted = this.#pages.filter(isWanted);
    this.#pages = this.#pages.filter((page) => !wanted.includes(page));
    // What the check of a range covers needs no check of its own.
    wanted.sort((a, b) => Number(b.isCovered) - Number(a.isCovered));
    for (const page of wanted) this.#recordEach(page);
  }

  #recordEach({ entries, isCovered }: ReadPage): boolean {
    let isConsistent = true;
    for (const { key, versionstamp, expireAt } of entries) {
      const id = keyIdOf(key, this.#order);
      const before = this.#recordedOf(id);
      if (before !== undefined) isConsistent &&= before === versionstamp;
      else if (isCovered && expireAt === undefined) this.#covered.set(id, versionstamp);
      else this.#reads.set(id, { key: copyOfKey(key), versionstamp });
    }
    return isConsistent;
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

function isWithin(id: KeyId, { start, end }: IdRange): boolean {
  return id >= start && id < end;
}

function overlap({ range: a }: ReadPage, { range: b }: ReadPage): boolean {
  return a.start < b.end && b.start < a.end;
}

/** The check of a range does not notice that an entry expires. */
function needsChecks({ entries, isCovered }: ReadPage): boolean {
  return !isCovered || entries.some(({ expireAt }) => expireAt !== undefined);
}
