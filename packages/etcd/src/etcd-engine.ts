import type {
  AtomicWrite,
  Engine,
  EngineLimits,
  KeyRange,
  MaybePromise,
  OpenViewOptions,
  RangeListener,
  RangeRead,
  ReadView,
  StoredEntry,
  WriteOutcome,
} from "@keywright/core";
import { ReadViewEndedError } from "@keywright/core";
import {
  ChangeWatchers,
  type EndableView,
  hasExpired,
  maxRangeBytes,
  OpenViews,
} from "@keywright/core/engine";
import type { EtcdClient } from "./client/etcd-client.js";
import type { KeyValue, RangeResponse } from "./client/etcd-messages.js";
import { KeyReader } from "./client/key-reader.js";
import { readKeys } from "./client/read-keys.js";
import { retryIfCompacted } from "./client/retry-if-compacted.js";
import { Snapshot } from "./client/snapshot.js";
import { Committer } from "./commit/committer.js";
import { EtcdCompactedError } from "./errors/etcd-errors.js";
import { decodeRecord } from "./record/entry-record.js";
import type { KeySpace } from "./record/key-space.js";
import { formatStamp, lastPosition } from "./record/stamp.js";
import { ChangeStream } from "./watch/change-stream.js";

/** The size of the entries that a batch collects, in bytes. */
const batchBytes = 1024 * 1024;
/** Bytes of a request for everything but keys and values. */
const requestOverhead = 256 * 1024;
/** The maximum number of entries that one request reads. */
const mostAtOnce = 4096;
/** The number of entries that the first request of a process reads at most. */
const firstEntries = 500;

export interface EtcdEngineLimits {
  readonly maxTxnOps: number;
  readonly maxRequestBytes: number;
}

/** The engine on etcd. `docs/internals/etcd.md` describes what it stores and how it commits. */
export class EtcdEngine implements Engine {
  readonly isShared = true;
  readonly checksRanges = true;
  readonly limits: EngineLimits;
  readonly #client: EtcdClient;
  readonly #keys: KeySpace;
  readonly #reader: KeyReader;
  readonly #watchers = new ChangeWatchers();
  readonly #views = new OpenViews();
  readonly #committer: Committer;
  #stream: ChangeStream | undefined;
  /** The mean size of the records that the last range has had, in bytes. */
  #recordBytes = maxRangeBytes / firstEntries;

  constructor(
    client: EtcdClient,
    keys: KeySpace,
    { maxTxnOps, maxRequestBytes }: EtcdEngineLimits,
  ) {
    this.#client = client;
    this.#keys = keys;
    this.#reader = new KeyReader(client);
    const bytes = maxRequestBytes - requestOverhead;
    this.limits = {
      checks: 100,
      mutations: 1000,
      valueBytes: bytes,
      keyBytes: 64 * 1024,
      totalMutationBytes: bytes,
    };
    const limits = { maxTxnOps, bytes: Math.min(batchBytes, bytes) };
    this.#committer = new Committer(client, keys, limits, {
      committed: (revision, changed) => this.#stream?.committed(revision, changed),
      abandoned: () => this.#stream?.abandoned(),
    });
  }

  async get(key: Uint8Array): Promise<StoredEntry | undefined> {
    const record = await this.#reader.get(this.#keys.keyOf(key));
    return record && this.#unexpired(record, Date.now());
  }

  getMany(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    return retryIfCompacted(() => this.#readMany(keys, new Snapshot(this.#client)));
  }

  getRange(read: RangeRead): Promise<StoredEntry[]> {
    return retryIfCompacted(() => this.#readRange(read, new Snapshot(this.#client)));
  }

  /** The reads of a view are those of a revision, which etcd keeps until it compacts it. */
  openView({ atFirstRead = false }: OpenViewOptions = {}): MaybePromise<ReadView> {
    this.#views.assertOpen();
    const snapshot = new Snapshot(this.#client, { reservation: this.#keys.reservation });
    if (atFirstRead) return this.#viewOf(snapshot);
    return snapshot.read([]).then(() => this.#viewOf(snapshot));
  }

  #viewOf(snapshot: Snapshot): ReadView {
    const read = async <T>(reading: Promise<T>): Promise<T> => {
      try {
        const result = await reading;
        view.versionstamp = versionstampOf(snapshot);
        return result;
      } catch (error) {
        if (!(error instanceof EtcdCompactedError)) throw error;
        const failure = () =>
          new ReadViewEndedError(
            "etcd has compacted its revision; give --auto-compaction-retention more time",
          );
        view.end(failure);
        throw failure();
      }
    };
    const view: EndableView = this.#views.open(
      {
        get: (key) => read(this.#readMany([key], snapshot).then(([entry]) => entry)),
        getMany: (keys) => read(this.#readMany(keys, snapshot)),
        getRange: (range) => read(this.#readRange(range, snapshot)),
      },
      () => undefined,
      versionstampOf(snapshot),
    );
    return view;
  }

  commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    return this.#committer.commit(writes);
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#watching(this.#watchers.watch(keys, onChange));
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#watching(this.#watchers.watchRanges(ranges, onChange));
  }

  async close(): Promise<void> {
    this.#views.close();
    this.#stream?.end();
    this.#client.close();
  }

  async #readMany(
    keys: readonly Uint8Array[],
    snapshot: Snapshot,
  ): Promise<(StoredEntry | undefined)[]> {
    const full = keys.map((key) => this.#keys.keyOf(key));
    const stored = await readKeys(snapshot, full);
    return full.map((key) => {
      const record = stored.get(key.toString("latin1"));
      return record && this.#unexpired(record, snapshot.now);
    });
  }

  async #readRange(
    { range, limit, reverse }: RangeRead,
    snapshot: Snapshot,
  ): Promise<StoredEntry[]> {
    if (range.end.length === 0) return [];
    let { key, rangeEnd } = this.#keys.rangeOf(range);
    if (key.compare(rangeEnd) >= 0) return [];
    const entries: StoredEntry[] = [];
    let size = 0;
    for (;;) {
      const atOnce = Math.max(Math.floor(maxRangeBytes / this.#recordBytes), 1);
      const wanted = Math.min(limit - entries.length, atOnce, mostAtOnce);
      const order = reverse ? { sortOrder: "DESCEND" as const } : {};
      const request = { key, rangeEnd, limit: wanted, ...order };
      const [{ kvs, more }] = (await snapshot.read([request])) as [RangeResponse];
      let bytes = 0;
      for (const record of kvs) {
        bytes += record.value.length;
        const entry = this.#unexpired(record, snapshot.now);
        if (entry === undefined) continue;
        entries.push(entry);
        size += entry.value.length;
        if (entries.length === limit || size >= maxRangeBytes) break;
      }
      const last = kvs.at(-1);
      if (last !== undefined) this.#recordBytes = Math.max(bytes / kvs.length, 64);
      const isFull = entries.length === limit || size >= maxRangeBytes;
      if (isFull || !more || last === undefined) return entries;
      if (reverse) rangeEnd = last.key;
      else key = this.#keys.after(last.key);
    }
  }

  /** Keeps the stream of changes open while there is a watch. Returns the function that ends it. */
  #watching(end: () => void): () => void {
    // A commit that begins after this call has a later revision than any that was seen before.
    this.#stream ??= new ChangeStream(this.#client, this.#keys, this.#client.lastRevision + 1, {
      isOwn: (key) => this.#committer.session.isOwn(key),
      onChanged: (changed) => this.#watchers.notify(changed),
      onMissed: () => this.#watchers.notifyUnknown(),
    });
    return () => {
      end();
      if (!this.#watchers.isEmpty) return;
      this.#stream?.end();
      this.#stream = undefined;
    };
  }

  #unexpired(record: KeyValue, now: number): StoredEntry | undefined {
    const entry = decodeRecord(this.#keys.entryKeyOf(record.key), record);
    return hasExpired(entry, now) ? undefined : entry;
  }
}

/**
 * Returns the versionstamp of a state. While a revision is reserved, no commit is applied, and the
 * next one has the reserved revision. The state is then that of the revision before.
 */
function versionstampOf({ revision, reserved }: Snapshot): string | undefined {
  if (revision === 0) return undefined;
  const last = reserved === undefined ? revision : reserved.modRevision - 1;
  return formatStamp({ revision: last, position: lastPosition });
}
