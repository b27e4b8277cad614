import { resolve } from "node:path";
import type {
  AtomicWrite,
  CorruptionError,
  Engine,
  EngineLimits,
  FileCheckProgress,
  FileReport,
  KeyRange,
  RangeListener,
  RangeRead,
  ReadView,
  StoredEntry,
  WriteOutcome,
} from "@keywright/core";
import {
  CheckedVersions,
  hasExpired,
  maxRangeBytes,
  OpenViews,
  visibleRange,
  WriteGroup,
} from "@keywright/core/engine";
import { EntryChecker } from "./check/entry-checker.js";
import { writeCommit } from "./commit/write-commit.js";
import { openingFailure, readFailure } from "./errors/lmdb-failure.js";
import { decodeChangeRecord } from "./file/change-record.js";
import { decodeHead, type Head } from "./file/head.js";
import { changeKey, headKey } from "./file/reserved-keys.js";
import { type LmdbStore, Tree } from "./file/tree.js";
import { assertOptions, type LmdbOptions } from "./open/lmdb-options.js";
import { openStore } from "./open/open-store.js";
import { ChangeFeed } from "./watch/change-feed.js";

/**
 * Opens an engine on an LMDB file, for `openKv`. Creates the file if it does not exist. Several
 * processes of one machine can have it open.
 *
 * ```ts
 * const kv = await openKv(await lmdbEngine({ path: "./data.mdb" }));
 * ```
 *
 * @throws {InvalidOptionError} if an option is not valid.
 * @throws {DatabaseNotFoundError} if the file does not exist and may not be created.
 * @throws {DatabasePathError} if the path is a folder, or access is denied.
 * @throws {DatabaseFormatError} if the file is not Keywright's, or has a later format.
 * @throws {CorruptionError} if the head of the database is damaged.
 */
export async function lmdbEngine(options: LmdbOptions): Promise<Engine> {
  assertOptions(options);
  const path = resolve(options.path);
  const store = await openStore(path, options);
  const engine = new LmdbEngine(store, path);
  try {
    await engine.start(options.checkEntries ?? true);
    return engine;
  } catch (error) {
    await engine.close();
    throw openingFailure(error, path);
  }
}

class LmdbEngine implements Engine {
  readonly isShared = true;
  /** LMDB takes keys of up to 4,026 bytes. The end of a range is a byte longer than its last key. */
  readonly limits: EngineLimits = { keyBytes: 3950 };
  readonly #store: LmdbStore;
  readonly #tree: Tree;
  readonly #feed: ChangeFeed;
  readonly #checker: EntryChecker;
  readonly #views = new OpenViews();
  /** Set when an entry was found damaged or missing. All calls fail from then on. */
  #damage: CorruptionError | undefined;
  /** The versions of checked entries in the state after the commit `#versionsOf`. */
  #versions = new CheckedVersions();
  #versionsOf = -1;

  constructor(store: LmdbStore, path: string) {
    this.#store = store;
    this.#checker = new EntryChecker(store, path, (error) => {
      this.#damage ??= error;
    });
    this.#tree = new Tree(store);
    this.#feed = new ChangeFeed({
      readSequence: () => this.#readHead().sequence,
      readChanges: (sequence) => decodeChangeRecord(sequence, this.#tree.peek(changeKey(sequence))),
    });
  }

  /** @throws {CorruptionError} if the head or an entry of a small file is damaged. */
  async start(checksEntries: boolean): Promise<void> {
    this.#readHead();
    if (checksEntries) await this.#checker.start();
  }

  get(key: Uint8Array): StoredEntry | undefined {
    this.#renew();
    return unexpired(read(this.#tree, key), Date.now());
  }

  getMany(keys: readonly Uint8Array[]): (StoredEntry | undefined)[] {
    this.#renew();
    const now = Date.now();
    return keys.map((key) => unexpired(read(this.#tree, key), now));
  }

  async getRange(read: RangeRead): Promise<StoredEntry[]> {
    this.#renew();
    return readRange(this.#tree, read, Date.now(), maxRangeBytes);
  }

  async getRanges(reads: readonly RangeRead[]): Promise<StoredEntry[][]> {
    this.#renew();
    const now = Date.now();
    // Without a pause between them, all see the same state.
    return reads.map((read) => readRange(this.#tree, read, now, Number.POSITIVE_INFINITY));
  }

  openView(): ReadView {
    this.#views.assertOpen();
    this.#renew();
    const transaction = this.#store.useReadTransaction();
    const tree = new Tree(this.#store, transaction);
    const now = Date.now();
    const get = (key: Uint8Array) => unexpired(read(tree, key), now);
    const reads = {
      get,
      getMany: (keys: readonly Uint8Array[]) => keys.map(get),
      getRange: (read: RangeRead) => readRange(tree, read, now, maxRangeBytes),
    };
    return this.#views.open(reads, () => transaction.done());
  }

  /**
   * Evaluates the writes against the newest state, and writes the result if that state is still the
   * newest one. LMDB compares the sequence of the head inside its write transaction. If another
   * process has committed meanwhile, the writes are evaluated again.
   */
  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const damage = this.#damage;
    if (damage !== undefined) return writes.map(() => damage);
    for (;;) {
      const head = this.#readHead();
      if (head.sequence !== this.#versionsOf) this.#versions = new CheckedVersions();
      this.#versionsOf = head.sequence;
      const group = new WriteGroup({
        sequence: head.sequence + 1,
        now: Date.now(),
        read: (key) => read(this.#tree, key),
        versions: this.#versions,
        copiesWrites: true,
      });
      const outcomes = writes.map((write) => group.apply(write));
      if (group.last === undefined) return outcomes;
      const isNewest = await writeCommit(this.#store, this.#tree, head, group.mutations);
      if (!isNewest) continue;
      this.#versionsOf = head.sequence + 1;
      this.#feed.poll();
      return outcomes;
    }
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#feed.watch(keys, onChange);
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#feed.watchRanges(ranges, onChange);
  }

  async verifyFiles(onProgress: (progress: FileCheckProgress) => void): Promise<FileReport> {
    return await this.#checker.verify(onProgress);
  }

  async close(): Promise<void> {
    // LMDB must not be closed before the transactions that read it.
    this.#views.close();
    this.#feed.close();
    await this.#checker.close();
    await this.#store.close();
  }

  /** Lets the following reads see the newest state of all processes. */
  #renew(): void {
    if (this.#damage !== undefined) throw this.#damage;
    this.#tree.renew();
  }

  #readHead(): Head {
    try {
      this.#renew();
      return decodeHead(this.#tree.peek(headKey));
    } catch (error) {
      throw readFailure(error, headKey);
    }
  }
}

function read(tree: Tree, key: Uint8Array): StoredEntry | undefined {
  try {
    return tree.get(key);
  } catch (error) {
    throw readFailure(error, key);
  }
}

function readRange(
  tree: Tree,
  { range, limit, reverse }: RangeRead,
  now: number,
  maxBytes: number,
): StoredEntry[] {
  const entries: StoredEntry[] = [];
  if (range.end.length === 0) return entries;
  try {
    let size = 0;
    const { start, end } = visibleRange(range);
    tree.visit({ start, end, reverse }, (entry) => {
      if (hasExpired(entry, now)) return true;
      entries.push(entry);
      size += entry.value.length;
      return entries.length < limit && size < maxBytes;
    });
    return entries;
  } catch (error) {
    throw readFailure(error);
  }
}

function unexpired(entry: StoredEntry | undefined, now: number): StoredEntry | undefined {
  return entry === undefined || hasExpired(entry, now) ? undefined : entry;
}
