import type { KvEntry, KvKey, KvListSelector } from "@keywright/core";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { changeMarkOfRead } from "../../indexes/change-marks.js";
import { isSamePart } from "../../indexes/key-parts.js";
import {
  isMeant,
  isPoints,
  prefixOf,
  type QueryPlan,
  type Segment,
  segmentOf,
  selectorOf,
} from "../plan/query-plan.js";
import { readHeld, readKeys } from "./read-rows.js";

/** The most entries that are read together. */
export const maxBatch = 500;

/** How entries are read. */
export interface EntryReaderOptions {
  /** The key behind which to begin. */
  readonly after?: KvKey | undefined;
  /** Reads that each entry leads to, itself included: 2 where its row is read too. */
  readonly cost: number;
  /** Read one entry more than is asked for where that is not a read too many, to know whether there are more. */
  readonly looksAhead?: boolean;
}

/**
 * Reads the entries of a plan, some at a time. It holds nothing open between two calls: it may be left anywhere. It asks
 * for no more than may be read, as long as that is enough.
 */
export class EntryReader {
  readonly #context: TableContext;
  readonly #plan: QueryPlan;
  readonly #meter: ReadMeter;
  readonly #cost: number;
  readonly #looksAhead: boolean;
  readonly #isPoints: boolean;
  /** How many of the segments are behind, in the direction of reading. */
  #done = 0;
  /** Within the next segment, the key behind which to go on. */
  #after: KvKey | undefined;
  /** What was read and not returned yet. */
  #ahead: KvEntry<unknown>[] = [];
  #hasBegun = false;
  /** How many whole keys are read together at the least: more where there was nothing under some. */
  #pointsAtOnce = 0;

  constructor(
    context: TableContext,
    plan: QueryPlan,
    meter: ReadMeter,
    { after, cost, looksAhead = false }: EntryReaderOptions,
  ) {
    this.#context = context;
    this.#plan = plan;
    this.#meter = meter;
    this.#cost = cost;
    this.#looksAhead = looksAhead;
    this.#isPoints = isPoints(plan);
    if (after === undefined) return;
    const place = segmentOf(plan, after);
    this.#done = plan.reverse ? plan.segments.length - 1 - place : place;
    if (this.#isPoints) this.#done++;
    else this.#after = after;
  }

  /**
   * Up to `count` entries, and no more than {@link maxBatch}; none where there are no more.
   *
   * @throws {ReadLimitError} where there are more, and not one of them may be read.
   */
  async next(count: number): Promise<KvEntry<unknown>[]> {
    const { left } = this.#meter;
    const affordable = Math.floor((left + this.#ahead.length) / this.#cost);
    const wanted = Math.max(1, Math.min(count, maxBatch, affordable));
    const isAheadAffordable = left + this.#ahead.length > wanted * this.#cost;
    const extra = this.#looksAhead && isAheadAffordable ? 1 : 0;
    while (this.#ahead.length < wanted) {
      if (!(await this.#read(wanted - this.#ahead.length + extra))) break;
    }
    return this.#ahead.splice(0, wanted);
  }

  /** Whether there are more entries; true also where that may not be read. */
  async hasMore(): Promise<boolean> {
    while (this.#ahead.length === 0 && this.#meter.left > 0) {
      if (!(await this.#read(1))) return false;
    }
    return this.#ahead.length > 0 || this.#segment() !== undefined;
  }

  /** Reads some entries, or as many as the next segment has; false where there is none. */
  async #read(count: number): Promise<boolean> {
    if (!this.#hasBegun) await this.#begin();
    const segment = this.#segment();
    if (segment === undefined) return false;
    const { index } = this.#plan;
    const { catalog } = this.#context;
    if (index !== undefined && !catalog.isReadable(index)) await catalog.assertReadable(index);
    if (this.#isPoints) await this.#readPoints(count);
    else await this.#readRange(segment, count);
    return true;
  }

  async #begin(): Promise<void> {
    this.#hasBegun = true;
    const { transaction, kv, model } = this.#context;
    const [first, ...others] = this.#plan.segments;
    if (!transaction || !model.live || this.#isPoints || first === undefined) return;
    let length = 0;
    while (
      length < first.equals.length &&
      others.every(({ equals }) => isSamePart(equals[length], first.equals[length]))
    ) {
      length++;
    }
    // What a transaction has read has not changed when it is committed: nothing has come into the range.
    await kv.get(changeMarkOfRead(model, this.#plan.index, first.equals.slice(0, length)));
  }

  async #readPoints(count: number): Promise<void> {
    // What is found costs more when its row is read: no more keys are read than can all be found.
    const held = this.#ahead.length;
    const affordable = Math.floor((this.#meter.left - held * (this.#cost - 1)) / this.#cost);
    const most = Math.max(1, Math.min(Math.max(count, this.#pointsAtOnce), affordable));
    const keys: KvKey[] = [];
    for (let segment = this.#segment(); segment && keys.length < most; segment = this.#segment()) {
      keys.push(prefixOf(this.#plan, segment));
      this.#done++;
    }
    this.#meter.add(keys.length);
    for (const entry of await readKeys(this.#context, keys)) {
      if (entry.versionstamp !== null) this.#ahead.push(entry);
    }
    const isSparse = this.#ahead.length - held < keys.length;
    this.#pointsAtOnce = isSparse ? Math.min(keys.length * 2, maxBatch) : 0;
  }

  async #readRange(segment: Segment, count: number): Promise<void> {
    const selector = selectorOf(this.#plan, segment, this.#after);
    const entries = selector === undefined ? [] : await this.#list(selector, count);
    this.#meter.add(entries.length);
    const last = entries.at(-1);
    if (last === undefined || entries.length < count) {
      this.#done++;
      this.#after = undefined;
    } else {
      this.#after = last.key;
    }
    for (const entry of entries) {
      if (isMeant(this.#plan, segment, entry.key)) this.#ahead.push(entry);
    }
  }

  async #list(selector: KvListSelector, count: number): Promise<KvEntry<unknown>[]> {
    // What is read may be rows, or copies of them.
    return await readHeld(this.#context, () => this.#listStored(selector, count));
  }

  async #listStored(selector: KvListSelector, count: number): Promise<KvEntry<unknown>[]> {
    const { reverse } = this.#plan;
    const list = this.#context.kv.list(selector, { reverse, limit: count, batchSize: count });
    const entries: KvEntry<unknown>[] = [];
    for (let next = await list.next(); next.done !== true; next = await list.next()) {
      entries.push(next.value);
    }
    return entries;
  }

  /** The segment to read next; undefined behind the last. */
  #segment(): Segment | undefined {
    const { segments, reverse } = this.#plan;
    return segments[reverse ? segments.length - 1 - this.#done : this.#done];
  }
}
