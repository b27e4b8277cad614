import {
  InvalidSelectorError,
  type KeyOrder,
  type KvEntry,
  type KvEntryMaybe,
  type KvKey,
  type KvListIterator,
  type KvListOptions,
  type KvListSelector,
} from "@keywright/core";
import type { KvReads } from "../../catalog/capabilities-of.js";
import { entryAfterWrite } from "../buffer/buffered-write.js";
import { copyOfKey, type KeyId, keyIdOf } from "../buffer/key-id.js";
import {
  copyOfSelector,
  cursorAt,
  type IdRange,
  idRangeOf,
  keyAtCursor,
  selectorAfter,
} from "../buffer/list-range.js";
import type { WriteBuffer } from "../buffer/write-buffer.js";
import type { ReadRange } from "./read-ranges.js";
import type { ReadSet } from "./read-set.js";

const defaultBatchSize = 100;
const maxBatchSize = 500;
/** With a batch size of 1, `@deno/kv` 0.14 never gets past a key that equals the prefix. */
const minBatchSize = 2;

export interface MergedListContext {
  readonly order: KeyOrder;
  readonly buffer: WriteBuffer;
  assertActive(): void;
  readonly reads: ReadSet;
  readonly source: KvReads;
  beginRead(): void;
  read<T>(reading: Promise<T>): Promise<T>;
  /** Records an entry of the database, or its absence. Throws if an earlier read differs. */
  recordListed(id: KeyId, key: KvKey, entry: KvEntry<unknown> | undefined): void;
  /** Keeps an entry that was recorded as read, so that it need not be read again. */
  keep(id: KeyId, entry: KvEntry<unknown>): void;
}

/**
 * The entries of a range as a transaction sees them: those of the database, read in batches, merged
 * with what the transaction has written. Keys that it has deleted are skipped. Writes that are made
 * during the iteration are seen if they come after the last returned entry. An entry of the
 * database is recorded as read when the list reaches it, unless the transaction has replaced or
 * deleted it.
 *
 * Cursors differ from those of the database. A cursor continues a list with the same selector in
 * any transaction, and no other list.
 */
export class MergedList<T> implements KvListIterator<T> {
  readonly #context: MergedListContext;
  readonly #range: IdRange;
  readonly #reverse: boolean;
  readonly #entries: AsyncIterator<KvEntry<unknown>>;
  readonly #readRange: ReadRange | undefined;
  #remaining: number;
  #ahead: { readonly id: KeyId; readonly entry: KvEntry<unknown> } | undefined;
  #hasMore = true;
  #isDone = false;
  #reads = 0;
  /** The last key that the list has reached. */
  #last: KeyId | undefined;
  #lastReturned: KeyId | undefined;
  /** Each call waits for the one before it. This is the last one. */
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(context: MergedListContext, selector: KvListSelector, options: KvListOptions) {
    const { source, order, buffer, reads } = context;
    const limit = positiveInteger("limit", options.limit);
    const requested = positiveInteger("batchSize", options.batchSize) ?? limit ?? defaultBatchSize;
    // The transaction may have deleted the first entries that the database returns.
    const batchSize = Math.min(Math.max(requested, minBatchSize) + buffer.size, maxBatchSize);
    const reverse = options.reverse ?? false;
    this.#context = context;
    this.#reverse = reverse;
    this.#remaining = limit ?? Number.POSITIVE_INFINITY;
    // The database checks the selector here, before it is used below.
    this.#entries = source.list(selector, { reverse, batchSize });
    const copy = copyOfSelector(selector);
    this.#range = idRangeOf(copy, order);
    if (options.cursor) {
      const key = keyAtCursor(options.cursor, this.#range, order);
      this.#last = keyIdOf(key, order);
      this.#lastReturned = this.#last;
      const rest = selectorAfter(copy, key, reverse);
      this.#entries = source.list(rest, { reverse, batchSize });
      this.#readRange = reads.ranges?.begin(rest, reverse);
    } else this.#readRange = reads.ranges?.begin(copy, reverse);
  }

  get cursor(): string {
    return this.#lastReturned === undefined ? "" : cursorAt(this.#lastReturned);
  }

  async next(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    return await this.#inTurn(() => this.#nextEntry());
  }

  async return(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    return await this.#inTurn(async () => {
      this.#isDone = true;
      this.#ahead = undefined;
      return { done: true, value: undefined };
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #inTurn<R>(step: () => Promise<R>): Promise<R> {
    const result = this.#waiting++ === 0 ? step() : this.#turn.then(step);
    this.#turn = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      this.#waiting--;
    }
  }

  async #nextEntry(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    this.#context.assertActive();
    while (!this.#isDone && this.#remaining > 0) {
      if (this.#ahead === undefined && this.#hasMore) await this.#readAhead();
      const id = this.#nextId();
      if (id === undefined) {
        this.#isDone = true;
        if (this.#readRange !== undefined) this.#readRange.isWhole = true;
        break;
      }
      const entry = this.#take(id);
      if (entry === undefined) continue;
      this.#lastReturned = id;
      this.#remaining--;
      return { done: false, value: entry as KvEntry<T> };
    }
    return { done: true, value: undefined };
  }

  async #readAhead(): Promise<void> {
    // The first two entries may already come from two snapshots. Further ones need no count.
    if (this.#reads++ < 2) this.#context.beginRead();
    for (;;) {
      const next = await this.#context.read(this.#entries.next());
      this.#context.assertActive();
      if (next.done === true) {
        this.#hasMore = false;
        return;
      }
      const id = keyIdOf(next.value.key, this.#context.order);
      // For a prefix and an end, `@deno/kv` also returns the key that equals the prefix.
      if (id < this.#range.start) continue;
      this.#ahead = { id, entry: next.value };
      return;
    }
  }

  #nextId(): KeyId | undefined {
    const written = this.#context.buffer.ids.next(this.#range, this.#last, this.#reverse);
    const ahead = this.#ahead?.id;
    if (written === undefined || ahead === undefined) return written ?? ahead;
    return written < ahead !== this.#reverse ? written : ahead;
  }

  /** Moves to a key and returns its entry, unless it is absent in the transaction. */
  #take(id: KeyId): KvEntryMaybe<unknown> | undefined {
    const base = this.#ahead?.id === id ? this.#ahead.entry : undefined;
    if (base !== undefined) this.#ahead = undefined;
    this.#last = id;
    const write = this.#context.buffer.get(id);
    const key = base?.key ?? write?.key;
    if (this.#readRange !== undefined) this.#readRange.reached = key;
    if (write?.stored === undefined && key !== undefined) {
      this.#context.recordListed(id, copyOfKey(key), base);
      if (base !== undefined) this.#context.keep(id, base);
    }
    const entry = write === undefined ? base : entryAfterWrite(write, id, base);
    return entry?.versionstamp === null ? undefined : entry;
  }
}

function positiveInteger(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return value;
  throw new InvalidSelectorError(`${name} must be a positive integer`);
}
