import { Buffer } from "#platform";
import { compareBytes } from "../../bytes/compare-bytes.js";
import type { ReadView, StoredEntry } from "../../engine/engine.js";
import { hasExpired, isRangeEnd } from "../../engine/engine.js";
import { InvalidSelectorError } from "../../errors/core-errors.js";
import { decodeKey, decodeKeyAfter } from "../../keys/decode-key.js";
import { encodeKey } from "../../keys/encode-key.js";
import type { KvKeyPart } from "../../keys/key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import {
  commonPrefix,
  type KeyRange,
  type KvListSelector,
  keyAfter,
  keyRange,
} from "../../keys/key-range.js";
import type { KvEntry, KvListIterator, KvListOptions } from "../kv.js";
import type { KvLimits } from "../limits.js";
import { sharedPrefix } from "./shared-prefix.js";
import { decodeStoredKey, toKvEntry } from "./stored-entry.js";

const defaultBatchSize = 100;

export interface RangeIteratorContext {
  readonly order: KeyOrder;
  readonly limits: KvLimits;
  /** True if entries that expire stay, because they are read from a view. */
  readonly isView: boolean;
  /** @throws {DatabaseClosedError} after the database was closed. */
  stored(operation: string): Pick<ReadView, "getRange">;
}

/**
 * Reads a range in batches. Each batch has its own snapshot, which is closed before the first entry
 * is returned, so an iterator that is never finished holds nothing open.
 */
export class RangeIterator<T> implements KvListIterator<T> {
  readonly #context: RangeIteratorContext;
  readonly #range: KeyRange;
  readonly #reverse: boolean;
  readonly #batchSize: number;
  /** The parts and the size of the prefix that all keys have. */
  readonly #prefix: readonly KvKeyPart[];
  readonly #prefixBytes: number;
  #remaining: number;
  /** The last key that was read, or the key of the cursor. */
  #lastRead: Uint8Array | undefined;
  #lastReturned: Uint8Array | undefined;
  #batch: StoredEntry[] = [];
  #next = 0;
  #isExhausted = false;
  /** The last call of `next` or `return`. The next one waits for it, so calls run one by one. */
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /**
   * @throws {InvalidSelectorError} if the selector or an option is not valid.
   * @throws {InvalidKeyError} if a key in the selector is not valid.
   */
  constructor(context: RangeIteratorContext, selector: KvListSelector, options: KvListOptions) {
    this.#context = context;
    this.#range = keyRange(selector, context.order);
    this.#prefix = sharedPrefix(selector);
    this.#prefixBytes = encodeKey(this.#prefix, context.order).length;
    this.#reverse = options.reverse ?? false;
    const limit = positiveInteger("limit", options.limit);
    const batchSize = positiveInteger("batchSize", options.batchSize);
    this.#remaining = limit ?? Number.POSITIVE_INFINITY;
    this.#batchSize = Math.min(batchSize ?? limit ?? defaultBatchSize, context.limits.batchSize);
    if (options.cursor !== undefined && typeof options.cursor !== "string")
      throw new InvalidSelectorError("the cursor must be a string");
    if (options.cursor) this.#lastRead = keyOfCursor(options.cursor, this.#range, context.order);
    this.#lastReturned = this.#lastRead;
  }

  get cursor(): string {
    if (this.#lastReturned === undefined) return "";
    const shared = commonPrefix(this.#range).length;
    return Buffer.from(this.#lastReturned.subarray(shared)).toString("base64url");
  }

  /**
   * @throws {DatabaseClosedError} after the database was closed, even if a batch was read before.
   */
  async next(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    if (this.#waiting > 0 || !this.#hasEntry())
      return await this.#inTurn(() => this.#nextOfRange());
    this.#context.stored("list");
    return this.#take();
  }

  async nextBatch(): Promise<KvEntry<T>[]> {
    return await this.#inTurn(async () => {
      const entries: KvEntry<T>[] = [];
      for (let next = await this.#nextOfRange(); next.done !== true; next = this.#take()) {
        entries.push(next.value);
        if (!this.#hasEntry()) break;
      }
      return entries;
    });
  }

  async return(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    return await this.#inTurn(() => {
      this.#isExhausted = true;
      this.#batch = [];
      return { done: true, value: undefined };
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #inTurn<R>(step: () => R | Promise<R>): Promise<R> {
    this.#waiting++;
    const result = this.#turn.then(step);
    this.#turn = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      this.#waiting--;
    }
  }

  async #nextOfRange(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    this.#context.stored("list");
    while (!this.#hasEntry()) {
      if (this.#isExhausted || this.#remaining <= 0) return { done: true, value: undefined };
      await this.#readBatch();
    }
    return this.#take();
  }

  /** Skips entries that expired after they were read. Returns false if the batch has none left. */
  #hasEntry(): boolean {
    for (; this.#next < this.#batch.length; this.#next++) {
      const entry = this.#batch[this.#next]!;
      const isKept = this.#context.isView || entry.expireAt === undefined;
      if (isKept || !hasExpired(entry, Date.now())) return true;
      this.#remaining++;
    }
    return false;
  }

  async #readBatch(): Promise<void> {
    const limit = Math.min(this.#batchSize, this.#remaining);
    const range = this.#unreadRange();
    const batch = await this.#context.stored("list").getRange({
      range,
      limit,
      reverse: this.#reverse,
    });
    if (batch.length < limit && isRangeEnd(batch, limit)) this.#isExhausted = true;
    this.#remaining -= batch.length;
    this.#batch = batch;
    this.#next = 0;
    this.#lastRead = batch.at(-1)?.key ?? this.#lastRead;
  }

  #unreadRange(): KeyRange {
    const { start, end } = this.#range;
    if (this.#lastRead === undefined) return { start, end };
    return this.#reverse
      ? { start, end: this.#lastRead }
      : { start: keyAfter(this.#lastRead), end };
  }

  #take(): IteratorYieldResult<KvEntry<T>> {
    const stored = this.#batch[this.#next++]!;
    const key = decodeStoredKey(stored.key, () =>
      decodeKeyAfter(this.#prefix, this.#prefixBytes, stored.key, this.#context.order),
    );
    const entry = toKvEntry<T>(key, stored);
    this.#lastReturned = stored.key;
    return { done: false, value: entry };
  }
}

/**
 * Decodes a cursor: the last key without the common prefix of the range, in URL-safe base64.
 *
 * @throws {InvalidSelectorError} if the cursor does not belong to the selector.
 */
function keyOfCursor(cursor: string, range: KeyRange, order: KeyOrder): Uint8Array {
  const tail = Buffer.from(cursor, "base64url");
  const isCanonical = tail.toString("base64url") === cursor;
  const prefix = commonPrefix(range);
  const key = new Uint8Array(prefix.length + tail.length);
  key.set(prefix);
  key.set(tail, prefix.length);
  const isWithin = compareBytes(key, range.start) >= 0 && compareBytes(key, range.end) < 0;
  if (!isCanonical || !isWithin || !isEncodedKey(key, order)) {
    throw new InvalidSelectorError("the cursor must come from an iterator with the same selector");
  }
  return key;
}

function isEncodedKey(bytes: Uint8Array, order: KeyOrder): boolean {
  try {
    decodeKey(bytes, order);
    return true;
  } catch {
    return false;
  }
}

function positiveInteger(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return value;
  throw new InvalidSelectorError(`${name} must be a positive integer`);
}
