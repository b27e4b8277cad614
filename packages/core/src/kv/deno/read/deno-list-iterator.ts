import type { StoredEntry } from "../../../engine/engine.js";
import { hasExpired, isRangeEnd } from "../../../engine/engine.js";
import { InvalidSelectorError } from "../../../errors/core-errors.js";
import type { KeyRange, KvListSelector } from "../../../keys/key-range.js";
import { defineInspect } from "../../../values/define-inspect.js";
import type { KvEntry, KvListIterator, KvListOptions } from "../../kv.js";
import type { KvLimits } from "../../limits.js";
import { assertByteString, assertConsistency } from "../deno-argument.js";
import { denoError } from "../deno-error.js";
import { assertReadKeySize, assertWithinDeno } from "../deno-limits.js";
import { toDenoEntry } from "./deno-entry.js";
import {
  cursorAt,
  type DenoRange,
  type DenoSelector,
  denoRange,
  rangeAfter,
  rangeAfterCursor,
  takeBounds,
  takeSelector,
} from "./deno-selector.js";

const defaultBatchSize = 100;
/** The largest batch, in entries, if the caller gives no `batchSize`. */
const largestOwnBatch = 500;

export interface DenoListContext {
  readonly limits: KvLimits;
  /** True if entries that expire stay, because they are read from a view. */
  readonly isView: boolean;
  assertOpen(): void;
  readRange(range: KeyRange, limit: number, reverse: boolean): Promise<StoredEntry[]>;
}

/**
 * Iterates as Deno does. The constructor checks the shape of the selector, `limit` and `batchSize`.
 * Everything else is checked when a batch is read. Cursors are the same as Deno's.
 */
export class DenoListIterator<T> implements KvListIterator<T> {
  static {
    defineInspect(DenoListIterator, () => "KvListIterator {}");
  }

  readonly #context: DenoListContext;
  readonly #selector: DenoSelector;
  readonly #limit: number;
  readonly #batchSize: number;
  readonly #reverse: boolean;
  readonly #consistency: unknown;
  readonly #givenCursor: unknown;
  #range: DenoRange | undefined;
  #lastKey: Uint8Array | undefined;
  #batch: StoredEntry[] = [];
  #next = 0;
  #count = 0;
  #isLastBatch = false;
  #isDone = false;
  /** The previous call of `next`. Each call waits for the one before it. */
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * @throws {Error} if `limit` or `batchSize` is not a positive integer.
   * @throws {TypeError} if the selector has another shape.
   */
  constructor(context: DenoListContext, selector: KvListSelector, options: KvListOptions) {
    this.#context = context;
    assertPositive("Limit", options.limit);
    const batchSize = options.batchSize ?? options.limit ?? defaultBatchSize;
    assertPositive("batchSize", batchSize);
    const isOwn = options.batchSize === undefined;
    this.#batchSize = isOwn ? Math.min(batchSize, largestOwnBatch) : batchSize;
    this.#limit = options.limit ?? Number.POSITIVE_INFINITY;
    this.#reverse = options.reverse === true;
    this.#consistency = options.consistency ?? "strong";
    this.#selector = takeSelector(selector);
    this.#givenCursor = options.cursor || undefined;
  }

  /** @throws {Error} before the first entry, if `list` was called without a cursor. */
  get cursor(): string {
    if (this.#isDone) return "";
    if (this.#lastKey !== undefined && this.#range !== undefined) {
      return cursorAt(this.#range, this.#lastKey);
    }
    if (this.#givenCursor !== undefined) return this.#givenCursor as string;
    const own = new InvalidSelectorError("there is no cursor before the first entry");
    throw denoError(own, "Cannot get cursor before first iteration", Error);
  }

  next(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    const result = this.#turn.then(() => this.#nextEntry());
    this.#turn = result.catch(() => undefined);
    return result;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #nextEntry(): Promise<IteratorResult<KvEntry<T>, undefined>> {
    if (this.#isDone || this.#count >= this.#limit) return { done: true, value: undefined };
    let entry = this.#nextOfBatch();
    while (entry === undefined && !this.#isLastBatch) {
      await this.#readBatch();
      entry = this.#nextOfBatch();
    }
    if (entry === undefined) {
      this.#isDone = true;
      return { done: true, value: undefined };
    }
    this.#count++;
    return { done: false, value: toDenoEntry<T>(entry) };
  }

  /** Returns the next entry of the batch that has not expired since the batch was read. */
  #nextOfBatch(): StoredEntry | undefined {
    const now = Date.now();
    for (;;) {
      const entry = this.#batch[this.#next];
      if (entry === undefined) return undefined;
      this.#next++;
      // Set for an expired entry too, because the next batch begins after it.
      this.#lastKey = entry.key;
      if (this.#context.isView || !hasExpired(entry, now)) return entry;
    }
  }

  async #readBatch(): Promise<void> {
    const { limits } = this.#context;
    const bounds = takeBounds(this.#selector);
    const cursor = this.#givenCursor;
    if (cursor !== undefined) {
      assertByteString(new InvalidSelectorError("the cursor must be a string of bytes"), cursor);
    }
    assertConsistency(this.#consistency);
    this.#context.assertOpen();
    this.#range = denoRange(bounds);
    const rest = this.#rest(this.#range, cursor);
    assertReadKeySize(limits, rest.start.length);
    assertReadKeySize(limits, rest.end.length);
    assertWithinDeno(limits, "batchSize", this.#batchSize);
    this.#batch = await this.#context.readRange(rest, this.#batchSize, this.#reverse);
    this.#next = 0;
    this.#isLastBatch = isRangeEnd(this.#batch, this.#batchSize);
  }

  #rest(range: DenoRange, cursor: string | undefined): KeyRange {
    if (this.#lastKey !== undefined) return rangeAfter(range, this.#lastKey, this.#reverse);
    if (cursor !== undefined) return rangeAfterCursor(range, cursor, this.#reverse);
    return range;
  }
}

function assertPositive(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return;
  const text = `${name} must be a positive integer: received ${value}`;
  throw denoError(new InvalidSelectorError(`${name} must be a positive integer`), text, Error);
}
