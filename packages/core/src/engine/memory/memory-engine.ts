import { nextTurn } from "#platform";
import { textOfBytes, textOfRange } from "../../bytes/text-of-bytes.js";
import type { KeyRange } from "../../keys/key-range.js";
import { sequenceOfVersionstamp } from "../../values/versionstamp.js";
import { ChangeWatchers } from "../change-watchers.js";
import { RecentCommits } from "../commit/recent-commits.js";
import {
  CheckedVersions,
  mutationsPerTurn,
  type RecordMutation,
  WriteGroup,
} from "../commit/write-group.js";
import {
  type AtomicWrite,
  type Engine,
  type EngineLimits,
  type EntryVisitor,
  hasExpired,
  type KeyList,
  type KeyVisitor,
  maxRangeBytes,
  type RangeListener,
  type RangeRead,
  type RangesRead,
  type RangesVisitor,
  type ReadView,
  type StoredEntry,
  type WriteOutcome,
} from "../engine.js";
import { ExpiryClock } from "../expiry-clock.js";
import { noVersionstamp } from "../level/commit-record.js";
import { OpenViews } from "../read/open-views.js";
import { visitRangesAtOnce } from "../read/visit-ranges.js";
import { visibleRange } from "../system-keys.js";
import { OrderedMap, type OrderedState } from "./ordered-map.js";

/** The entries by the texts of their keys, whose order is that of the keys. */
type Entries = OrderedState<StoredEntry>;

/** The state of a database in memory, for one engine at a time. */
export class MemoryStore {
  readonly map: OrderedMap<StoredEntry> = new OrderedMap();
  lastVersionstamp: string = noVersionstamp;
}

/**
 * The engine in memory. All of its reads are synchronous. Nothing survives the process, so entries
 * need no records and no checksums.
 */
export class MemoryEngine implements Engine {
  readonly limits: EngineLimits = {};
  readonly checksRanges = true;
  readonly keepsLog = true;
  readonly visitsAtOnce = true;
  #store: MemoryStore;
  /** What reads see: the map itself, or its state before the commit that is being written. */
  #entries: Entries;
  readonly #clock = new ExpiryClock();
  readonly #views = new OpenViews();
  readonly #watchers = new ChangeWatchers();
  readonly #versions = new CheckedVersions();
  readonly #recent: RecentCommits;

  constructor(store: MemoryStore = new MemoryStore()) {
    this.#store = store;
    this.#entries = store.map;
    this.#recent = new RecentCommits(store.lastVersionstamp);
  }

  get lastVersionstamp(): string {
    return this.#store.lastVersionstamp;
  }

  get(key: Uint8Array): StoredEntry | undefined {
    this.#views.assertOpen();
    return read(this.#entries, key, this.#clock.now());
  }

  getMany(keys: readonly Uint8Array[]): (StoredEntry | undefined)[] {
    this.#views.assertOpen();
    const now = this.#clock.now();
    return keys.map((key) => read(this.#entries, key, now));
  }

  async getRange(range: RangeRead): Promise<StoredEntry[]> {
    this.#views.assertOpen();
    return readRange(this.#entries, range, this.#clock.now(), maxRangeBytes);
  }

  async getRanges(ranges: readonly RangeRead[]): Promise<StoredEntry[][]> {
    this.#views.assertOpen();
    const now = this.#clock.now();
    return ranges.map((range) => readRange(this.#entries, range, now, Number.POSITIVE_INFINITY));
  }

  visitRange(range: RangeRead, visit: EntryVisitor): void {
    this.#views.assertOpen();
    visitRange(this.#entries, range, this.#clock.now(), visit);
  }

  visitMany(keys: KeyList, visit: KeyVisitor): void {
    this.#views.assertOpen();
    visitMany(this.#entries, keys, this.#clock.now(), visit);
  }

  visitRanges(ranges: RangesRead, visit: RangesVisitor): void {
    this.#views.assertOpen();
    visitRanges(this.#entries, ranges, this.#clock.now(), visit);
  }

  openView(): ReadView {
    const { map, lastVersionstamp } = this.#store;
    const now = this.#clock.now();
    const entries = this.#entries === map ? map.state() : this.#entries;
    const get = (key: Uint8Array) => read(entries, key, now);
    const reads = {
      get,
      getMany: (keys: readonly Uint8Array[]) => keys.map(get),
      getRange: (range: RangeRead) => readRange(entries, range, now, maxRangeBytes),
      visitRange: (range: RangeRead, visit: EntryVisitor) => visitRange(entries, range, now, visit),
      visitMany: (keys: KeyList, visit: KeyVisitor) => visitMany(entries, keys, now, visit),
      visitRanges: (ranges: RangesRead, visit: RangesVisitor) =>
        visitRanges(entries, ranges, now, visit),
    };
    return this.#views.open(reads, () => undefined, lastVersionstamp);
  }

  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    this.#views.assertOpen();
    try {
      return await this.#commitAt(this.#clock.stop(), writes);
    } finally {
      this.#clock.resume();
    }
  }

  async #commitAt(now: number, writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const group = new WriteGroup<StoredEntry>({
      sequence: sequenceOfVersionstamp(this.#store.lastVersionstamp) + 1,
      now,
      read: (_key, text) => this.#store.map.get(text),
      recordOf: copyOf,
      versions: this.#versions,
      recent: this.#recent,
      copiesWrites: false,
    });
    const outcomes: WriteOutcome[] = [];
    for (const write of writes) {
      const steps = group.applyInSteps(write);
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) await nextTurn();
      outcomes.push(step.value);
    }
    if (group.last === undefined) return outcomes;
    await this.#write(group.mutations, group.last);
    this.#watchers.notify(group.mutations);
    return outcomes;
  }

  /** Writes a few mutations at once, and many in turns while reads see the state before them. */
  async #write(
    mutations: readonly RecordMutation<StoredEntry>[],
    versionstamp: string,
  ): Promise<void> {
    const { map } = this.#store;
    const isLarge = mutations.length > mutationsPerTurn;
    if (isLarge) this.#entries = map.state();
    for (const [i, { text, record }] of mutations.entries()) {
      if (isLarge && i % mutationsPerTurn === mutationsPerTurn - 1) await nextTurn();
      if (record === undefined) map.delete(text);
      else map.set(text, record);
    }
    // In one step, so that what is read and its versionstamp always fit.
    this.#entries = map;
    this.#store.lastVersionstamp = versionstamp;
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#watchers.watch(keys, onChange);
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#watchers.watchRanges(ranges, onChange);
  }

  async close(): Promise<void> {
    this.#views.close();
    // A handle that a program keeps after it has closed the database does not keep the entries.
    this.#store = new MemoryStore();
    this.#entries = this.#store.map;
  }
}

/** The writer may change its bytes, or they may be a small part of a buffer. */
function copyOf({ key, value, versionstamp, expireAt }: StoredEntry): StoredEntry {
  return { key: new Uint8Array(key), value: new Uint8Array(value), versionstamp, expireAt };
}

function read(entries: Entries, key: Uint8Array, now: number): StoredEntry | undefined {
  const entry = entries.get(textOfBytes(key));
  return entry === undefined || hasExpired(entry, now) ? undefined : entry;
}

function readRange(
  entries: Entries,
  range: RangeRead,
  now: number,
  maxBytes: number,
): StoredEntry[] {
  const found: StoredEntry[] = [];
  let size = 0;
  visitUntil(entries, range, now, (entry) => {
    found.push(entry);
    size += entry.value.length;
    return size < maxBytes;
  });
  return found;
}

function visitRange(entries: Entries, range: RangeRead, now: number, visit: EntryVisitor): void {
  visitUntil(entries, range, now, (entry) => {
    visit(entry);
    return true;
  });
}

function visitRanges(entries: Entries, read: RangesRead, now: number, visit: RangesVisitor): void {
  const visitUntilFalse = (range: KeyRange, next: (entry: StoredEntry) => boolean) =>
    visitUntil(entries, { range, limit: Number.POSITIVE_INFINITY, reverse: false }, now, next);
  visitRangesAtOnce(visitUntilFalse, read, visit);
}

/**
 * Visits the first entries of a range, at most as many as are wanted, until `visit` returns false.
 */
function visitUntil(
  entries: Entries,
  { range, limit, reverse }: RangeRead,
  now: number,
  visit: (entry: StoredEntry) => boolean,
): void {
  const { start, end } = visibleRange(range);
  let missing = limit;
  entries.visit({ start: textOfBytes(start), end: textOfBytes(end), reverse }, (entry) => {
    if (hasExpired(entry, now)) return true;
    return visit(entry) && --missing > 0;
  });
}

function visitMany(
  entries: Entries,
  { bytes, starts, ends }: KeyList,
  now: number,
  visit: KeyVisitor,
): void {
  for (let i = 0; i < starts.length; i++) {
    const entry = entries.get(textOfRange(bytes, starts[i]!, ends[i]!));
    if (entry !== undefined && !hasExpired(entry, now)) visit(i, entry);
  }
}
