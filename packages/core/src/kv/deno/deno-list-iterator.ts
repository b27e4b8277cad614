import type { StoredEntry } from "../../engine/engine.js";
import { hasExpired } from "../../engine/has-expired.js";
import { isRangeEnd } from "../../engine/range-end.js";
import { InvalidSelectorError } from "../../errors/core-errors.js";
import type { KeyRange, KvListSelector } from "../../keys/key-range.js";
import type { KvEntry, KvListIterator, KvListOptions } from "../kv.js";
import type { KvLimits } from "../limits.js";
import { assertByteString, assertConsistency } from "./deno-argument.js";
import { entryOf } from "./deno-entry.js";
import { denoError } from "./deno-error.js";
import { assertReadKeySize, assertWithinDeno } from "./deno-limits.js";
import {
  cursorAt,
  type DenoRange,
  type DenoSelector,
  denoRange,
  rangeBehind,
  rangeBehindCursor,
  takeBounds,
  takeSelector,
} from "./deno-selector.js";

const defaultBatchSize = 100;
/** The largest batch that a `limit` without a `batchSize` makes. */
const largestOwnBatch = 500;

/** What a list needs of its database. */
export interface DenoListContext {
  readonly limits: KvLimits;
  /** @throws {BadResource} after the database was closed. */
  assertOpen(): void;
  readRange(range: KeyRange, limit: number, reverse: boolean): Promise<StoredEntry[]>;
}

/** Iterates as Deno does: arguments are checked when the first batch is read, and a cursor is what Deno's would be. */
export class DenoListIterator<T> implements KvListIterator<T> {
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
  /** Calls of `next` are answered one after another: each waits for this, the one before it. */
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * @throws {Error} for a `limit` or `batchSize` that is no positive integer.
   * @throws {TypeError} for a selector of another shape.
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

  /** @throws {Error} before the first entry, where `list` was given no cursor. */
  get cursor(): string {
    if (this.#isDone) return "";
    if (this.#lastKey !== undefined && this.#range !== undefined) {
      return cursorAt(this.#range, this.#lastKey);
    }
    if (this.#givenCursor !== undefined) return this.#givenCursor as string;
    const text = "Cannot get cursor before first iteration";
    throw denoError(new InvalidSelectorError(text), text, Error);
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
    return { done: false, value: entryOf<T>(entry) };
  }

  /** The next entry of the batch that has not expired since it was read. */
  #nextOfBatch(): StoredEntry | undefined {
    const now = Date.now();
    for (;;) {
      const entry = this.#batch[this.#next];
      if (entry === undefined) return undefined;
      this.#next++;
      // The next batch begins behind it.
      this.#lastKey = entry.key;
      if (!hasExpired(entry, now)) return entry;
    }
  }

  async #readBatch(): Promise<void> {
    const { limits } = this.#context;
    const bounds = takeBounds(this.#selector);
    const cursor = this.#givenCursor;
    if (cursor !== undefined) {
      assertByteString(new InvalidSelectorError("the cursor is a string of bytes"), cursor);
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
    if (this.#lastKey !== undefined) return rangeBehind(range, this.#lastKey, this.#reverse);
    if (cursor !== undefined) return rangeBehindCursor(range, cursor, this.#reverse);
    return range;
  }
}

function assertPositive(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return;
  const text = `${name} must be a positive integer: received ${value}`;
  throw denoError(new InvalidSelectorError(text), text, Error);
}
