import {
  InvalidSelectorError,
  type KeyOrder,
  type Kv,
  type KvEntry,
  type KvEntryMaybe,
  type KvKey,
  type KvListIterator,
  type KvListOptions,
  type KvListSelector,
} from "@keywright/core";
import { entryOf } from "./buffered-write.js";
import { copyOfKey, type KeyId, keyIdOf } from "./key-id.js";
import {
  copyOfSelector,
  cursorAt,
  type IdRange,
  idRangeOf,
  keyAtCursor,
  selectorBehind,
} from "./list-range.js";
import type { ReadSet } from "./read-set.js";
import type { WriteBuffer } from "./write-buffer.js";

const defaultBatchSize = 100;
const maxBatchSize = 500;
/** With one entry at a time `@deno/kv` 0.14 never gets past a key that is the prefix itself. */
const minBatchSize = 2;

/** What a list needs of its transaction. */
export interface MergedListContext {
  readonly kv: Kv;
  readonly order: KeyOrder;
  readonly buffer: WriteBuffer;
  /** Throws where the transaction is over. */
  assertActive(): void;
  readonly reads: ReadSet;
  /** Records what the database has under a key. Throws where that is not what was read before. */
  record(id: KeyId, key: KvKey, versionstamp: string | null): void;
}

/**
 * The entries of a range as a transaction sees them: those of the database, read in batches, with what the transaction has
 * written in between, in their place or, where it was deleted, not at all. Writes made while it is read are seen where
 * they lie behind the entry last returned. An entry of the database counts as read when its turn comes.
 *
 * A cursor is the transaction's own: it goes on in a list of the same selector in any transaction, and in no other list.
 */
export class MergedList<T> implements KvListIterator<T> {
  readonly #context: MergedListContext;
  readonly #range: IdRange;
  readonly #reverse: boolean;
  readonly #entries: AsyncIterator<KvEntry<unknown>>;
  #remaining: number;
  /** The database's next entry, where it has been read. */
  #ahead: { readonly id: KeyId; readonly entry: KvEntry<unknown> } | undefined;
  #hasMore = true;
  #isLeft = false;
  #reads = 0;
  /** Where the list stands: behind this key. */
  #last: KeyId | undefined;
  #lastReturned: KeyId | undefined;
  /** Calls are answered one after another: each waits for this, the one before it. */
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** @throws {InvalidSelectorError} or what the database throws, for a selector or option that is not valid. */
  constructor(context: MergedListContext, selector: KvListSelector, options: KvListOptions) {
    const { kv, order, buffer } = context;
    const limit = positiveInteger("limit", options.limit);
    const wanted = positiveInteger("batchSize", options.batchSize) ?? limit ?? defaultBatchSize;
    // What is deleted here may stand in front of what is looked for.
    const batchSize = Math.min(Math.max(wanted, minBatchSize) + buffer.size, maxBatchSize);
    const reverse = options.reverse ?? false;
    this.#context = context;
    this.#reverse = reverse;
    this.#remaining = limit ?? Number.POSITIVE_INFINITY;
    // Refused here, before anything is made of it.
    this.#entries = kv.list(selector, { reverse, batchSize });
    const own = copyOfSelector(selector);
    this.#range = idRangeOf(own, order);
    if (options.cursor) {
      const key = keyAtCursor(options.cursor, this.#range, order);
      this.#last = keyIdOf(key, order);
      this.#lastReturned = this.#last;
      this.#entries = kv.list(selectorBehind(own, key, reverse), { reverse, batchSize });
    }
  }

  get cursor(): string {
    return this.#lastReturned === undefined ? "" : cursorAt(this.#lastReturned);
  }

  async next(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    return await this.#inTurn(() => this.#nextEntry());
  }

  async return(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    return await this.#inTurn(async () => {
      this.#isLeft = true;
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
    while (!this.#isLeft && this.#remaining > 0) {
      if (this.#ahead === undefined && this.#hasMore) await this.#readAhead();
      const id = this.#nextId();
      if (id === undefined) {
        this.#isLeft = true;
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
    // The first entry and the second may already be from two batches.
    if (this.#reads++ < 2) this.#context.reads.beginSnapshot();
    for (;;) {
      const next = await this.#entries.next();
      this.#context.assertActive();
      if (next.done === true) {
        this.#hasMore = false;
        return;
      }
      const id = keyIdOf(next.value.key, this.#context.order);
      // Given a prefix and an end, `@deno/kv` also has the key that equals the prefix.
      if (id < this.#range.start) continue;
      this.#ahead = { id, entry: next.value };
      return;
    }
  }

  /** The key whose turn it is, the database's or the transaction's. */
  #nextId(): KeyId | undefined {
    const own = this.#context.buffer.next(this.#range, this.#last, this.#reverse);
    const ahead = this.#ahead?.id;
    if (own === undefined || ahead === undefined) return own ?? ahead;
    return own < ahead !== this.#reverse ? own : ahead;
  }

  /** The entry of that key, undefined where the transaction has deleted it. */
  #take(id: KeyId): KvEntryMaybe<unknown> | undefined {
    const base = this.#ahead?.id === id ? this.#ahead.entry : undefined;
    if (base !== undefined) this.#ahead = undefined;
    this.#last = id;
    const write = this.#context.buffer.get(id);
    const key = base?.key ?? write?.key;
    if (write?.stored === undefined && key !== undefined) {
      this.#context.record(id, copyOfKey(key), base?.versionstamp ?? null);
    }
    const entry = write === undefined ? base : entryOf(write, id, base);
    return entry?.versionstamp === null ? undefined : entry;
  }
}

function positiveInteger(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return value;
  throw new InvalidSelectorError(`${name} is a positive integer`);
}
