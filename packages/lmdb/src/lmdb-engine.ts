import type {
  AtomicWrite,
  Engine,
  EngineLimits,
  KeyRange,
  RangeListener,
  RangeRead,
  StoredEntry,
  WriteOutcome,
} from "@keywright/core";
import {
  CheckedVersions,
  hasExpired,
  maxRangeBytes,
  visibleRange,
  WriteGroup,
} from "@keywright/core/engine";
import { writeCommit } from "./commit/write-commit.js";
import { readFailure } from "./errors/lmdb-failure.js";
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
  return new LmdbEngine(await openStore(options));
}

class LmdbEngine implements Engine {
  readonly isShared = true;
  readonly limits: EngineLimits = {};
  readonly #store: LmdbStore;
  readonly #tree: Tree;
  readonly #feed: ChangeFeed;
  /** The versions of checked entries in the state after the commit `#versionsOf`. */
  #versions = new CheckedVersions();
  #versionsOf = -1;

  constructor(store: LmdbStore) {
    this.#store = store;
    this.#tree = new Tree(store);
    this.#feed = new ChangeFeed({
      readSequence: () => this.#readHead().sequence,
      readChanges: (sequence) => decodeChangeRecord(sequence, this.#tree.peek(changeKey(sequence))),
    });
  }

  get(key: Uint8Array): StoredEntry | undefined {
    this.#tree.renew();
    return unexpired(this.#read(key), Date.now());
  }

  getMany(keys: readonly Uint8Array[]): (StoredEntry | undefined)[] {
    this.#tree.renew();
    const now = Date.now();
    return keys.map((key) => unexpired(this.#read(key), now));
  }

  async getRange({ range, limit, reverse }: RangeRead): Promise<StoredEntry[]> {
    const entries: StoredEntry[] = [];
    if (range.end.length === 0) return entries;
    try {
      this.#tree.renew();
      const now = Date.now();
      let size = 0;
      for (const entry of this.#tree.entries({ ...visibleRange(range), reverse })) {
        if (hasExpired(entry, now)) continue;
        entries.push(entry);
        size += entry.value.length;
        if (entries.length === limit || size >= maxRangeBytes) break;
      }
      return entries;
    } catch (error) {
      throw readFailure(error);
    }
  }

  /**
   * Evaluates the writes against the newest state, and writes the result if that state is still the
   * newest one. LMDB compares the sequence of the head inside its write transaction. If another
   * process has committed meanwhile, the writes are evaluated again.
   */
  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    for (;;) {
      const head = this.#readHead();
      if (head.sequence !== this.#versionsOf) this.#versions = new CheckedVersions();
      this.#versionsOf = head.sequence;
      const group = new WriteGroup({
        sequence: head.sequence + 1,
        now: Date.now(),
        read: (key) => this.#read(key),
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

  async close(): Promise<void> {
    this.#feed.close();
    await this.#store.close();
  }

  #readHead(): Head {
    try {
      this.#tree.renew();
      return decodeHead(this.#tree.peek(headKey));
    } catch (error) {
      throw readFailure(error, headKey);
    }
  }

  #read(key: Uint8Array): StoredEntry | undefined {
    try {
      return this.#tree.get(key);
    } catch (error) {
      throw readFailure(error, key);
    }
  }
}

function unexpired(entry: StoredEntry | undefined, now: number): StoredEntry | undefined {
  return entry === undefined || hasExpired(entry, now) ? undefined : entry;
}
