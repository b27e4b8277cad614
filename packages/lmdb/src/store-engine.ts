import { Buffer } from "node:buffer";
import type {
  AtomicWrite,
  CorruptionError,
  Engine,
  EngineLimits,
  EntryVisitor,
  FileReport,
  KeyList,
  KeyRange,
  KeyVisitor,
  Progress,
  RangeListener,
  RangeRead,
  RangesRead,
  RangesVisitor,
  ReadView,
  StoredEntry,
  WriteOutcome,
} from "@keywright/core";
import { ReadViewEndedError } from "@keywright/core";
import {
  assertInPlace,
  ChangeWatchers,
  CheckedVersions,
  EntryChecker,
  ExpiryClock,
  type FileId,
  fileIdOf,
  formatVersionstamp,
  hasExpired,
  maxGroupSize,
  maxRangeBytes,
  OpenViews,
  RecentCommits,
  type RecordEntry,
  recordOf,
  visibleRange,
  visitRangesAtOnce,
  WriteGroup,
} from "@keywright/core/engine";
import { checkedFile } from "./check/checked-file.js";
import { writeCommit } from "./commit/write-commit.js";
import { readFailure } from "./errors/lmdb-failure.js";
import { decodeHead, type Head } from "./file/head.js";
import type { LmdbStore } from "./file/lmdb-store.js";
import { ReadsInPlace } from "./file/reads-in-place.js";
import { headKey } from "./file/reserved-keys.js";
import { Tree } from "./file/tree.js";

/** The places for readers that views leave to other reads. */
const spareReaders = 16;

/** A state that several views read. */
interface HeldState {
  readonly transaction: ReturnType<LmdbStore["useReadTransaction"]>;
  readonly tree: Tree;
  readonly versionstamp: string;
  users: number;
}

/** The engine on an open LMDB file that no other process writes to. */
export class StoreEngine implements Engine {
  /**
   * LMDB takes keys of up to 4,026 bytes. The end of a range is a byte longer than its last key.
   */
  readonly limits: EngineLimits = { keyBytes: 3950 };
  readonly checksRanges = true;
  readonly keepsLog = true;
  readonly visitsAtOnce = true;
  readonly getsCopies = true;
  readonly #store: LmdbStore;
  readonly #path: string;
  readonly #file: FileId | undefined;
  readonly #inPlace: ReadsInPlace;
  readonly #tree: Tree;
  readonly #clock = new ExpiryClock();
  readonly #watchers = new ChangeWatchers();
  readonly #versions = new CheckedVersions();
  readonly #recent: RecentCommits;
  readonly #checker: EntryChecker;
  readonly #views = new OpenViews();
  #lastHeld: HeldState | undefined;
  /** How many states views hold, each with a place for readers. Other reads need some too. */
  #held = 0;
  readonly #mostHeld: number;
  #head: Head;
  #lastVersionstamp: string;
  /** The last versionstamp of the writes that are being committed. Stays after a failure. */
  #committing: string | undefined;
  /** The last versionstamp when reads were renewed. */
  #readVersionstamp: string | undefined;
  /** Set when an entry was found damaged or missing. All calls fail from then on. */
  #damage: CorruptionError | undefined;

  private constructor(store: LmdbStore, path: string, maxReaders: number) {
    this.#mostHeld = Math.max(1, maxReaders - spareReaders);
    this.#store = store;
    this.#path = path;
    this.#file = fileIdOf(path);
    this.#checker = new EntryChecker(checkedFile(store, path), (error) => {
      this.#damage ??= error;
    });
    this.#inPlace = new ReadsInPlace(store);
    this.#tree = new Tree(store, this.#inPlace);
    this.#head = decodeHead(this.#tree.peek(headKey));
    // The highest versionstamp that a write of the last commit may have.
    this.#lastVersionstamp = formatVersionstamp(this.#head.sequence, maxGroupSize - 1);
    this.#recent = new RecentCommits(this.#lastVersionstamp);
  }

  /**
   * @param maxReaders the places for readers of the file.
   * @param checksEntries true to check the entries, those of a small file before this resolves.
   * @throws {DatabaseFormatError} if the file is not Keywright's, or has a later format.
   * @throws {CorruptionError} if the head or an entry of a small file is damaged.
   */
  static async open(
    store: LmdbStore,
    path: string,
    { checksEntries, maxReaders }: { checksEntries: boolean; maxReaders: number },
  ): Promise<StoreEngine> {
    const engine = new StoreEngine(store, path, maxReaders);
    try {
      if (checksEntries) await engine.#checker.start();
      return engine;
    } catch (error) {
      await engine.#checker.close();
      throw error;
    }
  }

  get lastVersionstamp(): string | undefined {
    return this.#committing === undefined ? this.#lastVersionstamp : undefined;
  }

  get(key: Uint8Array): StoredEntry | undefined {
    this.#renew();
    return unexpired(read(this.#tree, key), this.#clock.now());
  }

  getMany(keys: readonly Uint8Array[]): (StoredEntry | undefined)[] {
    this.#renew();
    const now = this.#clock.now();
    return keys.map((key) => unexpired(read(this.#tree, key), now));
  }

  async getRange(read: RangeRead): Promise<StoredEntry[]> {
    this.#renew();
    return readRange(this.#tree, read, this.#clock.now(), maxRangeBytes);
  }

  async getRanges(reads: readonly RangeRead[]): Promise<StoredEntry[][]> {
    this.#renew();
    const now = this.#clock.now();
    // Without a pause between them, all see the same state.
    return reads.map((read) => readRange(this.#tree, read, now, Number.POSITIVE_INFINITY));
  }

  visitRange(read: RangeRead, visit: EntryVisitor): void {
    this.#renew();
    visitRange(this.#tree, read, this.#clock.now(), visit);
  }

  visitMany(keys: KeyList, visit: KeyVisitor): void {
    this.#renew();
    visitMany(this.#tree, keys, this.#clock.now(), visit);
  }

  visitRanges(read: RangesRead, visit: RangesVisitor): void {
    this.#renew();
    visitRanges(this.#tree, read, this.#clock.now(), visit);
  }

  openView(): ReadView {
    this.#views.assertOpen();
    this.#renew();
    const held = this.#hold();
    const { tree } = held;
    const now = this.#clock.now();
    const get = (key: Uint8Array) => unexpired(read(tree, key), now);
    const reads = {
      get,
      getMany: (keys: readonly Uint8Array[]) => keys.map(get),
      getRange: (read: RangeRead) => readRange(tree, read, now, maxRangeBytes),
      visitRange: (read: RangeRead, visit: EntryVisitor) => visitRange(tree, read, now, visit),
      visitMany: (keys: KeyList, visit: KeyVisitor) => visitMany(tree, keys, now, visit),
      visitRanges: (read: RangesRead, visit: RangesVisitor) => visitRanges(tree, read, now, visit),
    };
    return this.#views.open(reads, () => this.#release(held), held.versionstamp);
  }

  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const damage = this.#damage;
    if (damage !== undefined) return writes.map(() => damage);
    assertInPlace(this.#path, this.#file);
    this.#renew();
    try {
      return await this.#commitAt(this.#clock.stop(), writes);
    } finally {
      this.#clock.resume();
    }
  }

  async #commitAt(now: number, writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const absent = new Set<string>();
    const group = new WriteGroup({
      sequence: this.#head.sequence + 1,
      now,
      read: (key, text) => {
        const entry = read(this.#tree, key);
        if (entry === undefined) absent.add(text);
        return entry;
      },
      versions: this.#versions,
      recent: this.#recent,
      recordOf,
      copiesWrites: true,
    });
    const outcomes = writes.map((write) => group.apply(write));
    if (group.last === undefined) return outcomes;
    this.#committing = group.last;
    this.#head = await writeCommit(
      { store: this.#store, tree: this.#tree, path: this.#path, absent },
      this.#head,
      group.mutations,
    );
    this.#lastVersionstamp = group.last;
    this.#committing = undefined;
    this.#watchers.notify(group.mutations);
    return outcomes;
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#watchers.watch(keys, onChange);
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#watchers.watchRanges(ranges, onChange);
  }

  async verifyFiles(onProgress: (progress: Progress<"checking">) => void): Promise<FileReport> {
    return await this.#checker.verify(onProgress);
  }

  async close(): Promise<void> {
    // LMDB must not be closed before the transactions that read it.
    this.#views.close();
    await this.#checker.close();
    await this.#store.close();
  }

  /** Returns the state of the last view if nothing was committed since, and otherwise a new one. */
  #hold(): HeldState {
    let held = this.#lastHeld;
    const isNewest = this.#committing === undefined;
    if (held === undefined || !isNewest || held.versionstamp !== this.#lastVersionstamp) {
      if (this.#held >= this.#mostHeld) {
        const remedy = "close views earlier, or give lmdbEngine more maxReaders";
        throw new ReadViewEndedError(`views hold ${this.#held} states of the file; ${remedy}`);
      }
      // A transaction that has read already cannot be renewed.
      this.#tree.renew();
      const transaction = this.#store.useReadTransaction();
      const tree = new Tree(this.#store, this.#inPlace, transaction);
      held = { transaction, tree, versionstamp: this.#versionstampOf(tree), users: 0 };
      if (isNewest) this.#lastHeld = held;
      this.#held++;
    }
    held.users++;
    return held;
  }

  /** Returns the versionstamp of a state, which may have the commit that is being written. */
  #versionstampOf(tree: Tree): string {
    if (this.#committing === undefined) return this.#lastVersionstamp;
    const { sequence } = decodeHead(tree.peek(headKey));
    return sequence === this.#head.sequence ? this.#lastVersionstamp : this.#committing;
  }

  #release(held: HeldState): void {
    if (--held.users > 0) return;
    if (this.#lastHeld === held) this.#lastHeld = undefined;
    this.#held--;
    held.transaction.done();
  }

  /**
   * Lets the following reads see the newest state. It is the same until the next commit.
   *
   * @throws {DatabaseClosedError} after `close()`. A read of a closed file would end the process.
   */
  #renew(): void {
    this.#views.assertOpen();
    if (this.#damage !== undefined) throw this.#damage;
    if (this.#committing === undefined && this.#readVersionstamp === this.#lastVersionstamp) return;
    this.#readVersionstamp = this.#lastVersionstamp;
    this.#tree.renew();
  }
}

function read(tree: Tree, key: Uint8Array): StoredEntry | undefined {
  try {
    return tree.get(key);
  } catch (error) {
    throw readFailure(error, key);
  }
}

function readRange(tree: Tree, read: RangeRead, now: number, maxBytes: number): StoredEntry[] {
  const entries: StoredEntry[] = [];
  let size = 0;
  visitUntil(tree, read, now, (entry) => {
    const { versionstamp, expireAt } = entry;
    const key = Buffer.from(entry.key);
    entries.push({ key, value: Buffer.from(entry.value), versionstamp, expireAt });
    size += entry.valueBytes;
    return size < maxBytes;
  });
  return entries;
}

function visitRange(tree: Tree, read: RangeRead, now: number, visit: EntryVisitor): void {
  visitUntil(tree, read, now, (entry) => {
    visit(entry);
    return true;
  });
}

function visitRanges(tree: Tree, read: RangesRead, now: number, visit: RangesVisitor): void {
  const visitUntilFalse = (range: KeyRange, next: (entry: RecordEntry) => boolean) =>
    visitUntil(tree, { range, limit: Number.POSITIVE_INFINITY, reverse: false }, now, next);
  visitRangesAtOnce(visitUntilFalse, read, visit);
}

/**
 * Visits the first entries of a range, at most as many as are wanted, until `visit` returns false.
 */
function visitUntil(
  tree: Tree,
  { range, limit, reverse }: RangeRead,
  now: number,
  visit: (entry: RecordEntry) => boolean,
): void {
  if (range.end.length === 0) return;
  try {
    let missing = limit;
    const { start, end } = visibleRange(range);
    tree.visit({ start, end, reverse }, (entry) => {
      if (entry.expireAt !== undefined && hasExpired(entry, now)) return true;
      return visit(entry) && --missing > 0;
    });
  } catch (error) {
    throw readFailure(error);
  }
}

function visitMany(tree: Tree, keys: KeyList, now: number, visit: KeyVisitor): void {
  tree.visitMany(keys, (position, entry) => {
    if (entry.expireAt === undefined || !hasExpired(entry, now)) visit(position, entry);
  });
}

function unexpired(entry: StoredEntry | undefined, now: number): StoredEntry | undefined {
  return entry === undefined || hasExpired(entry, now) ? undefined : entry;
}
