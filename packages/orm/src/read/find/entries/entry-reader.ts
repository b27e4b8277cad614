import type { KvEntry, KvKey, KvListSelector } from "@keywright/core";
import { changeMarkOfRead } from "../../../derived/changes/change-marks.js";
import { isSamePart } from "../../../model/keys/key-parts.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { readKeys, readWithSchema } from "../../../state/rows/read-rows.js";
import {
  belongsToSegment,
  findSegment,
  prefixOf,
  type QueryPlan,
  readsWholeKeys,
  type Segment,
  selectorOf,
} from "../../plan/ranges/query-plan.js";

export const maxBatch = 500;

export interface EntryReaderOptions {
  readonly after?: KvKey | undefined;
  /** How many reads an entry costs, including the entry itself: 2 if its row is read too. */
  readonly cost: number;
  /** True to read one entry more than requested, if the limit allows it, to see if there is one. */
  readonly looksAhead?: boolean;
}

/**
 * Reads the entries of a plan in batches. It holds no resources between two calls, so its user may
 * stop at any time. It reads no more entries than `maxReads` allows. If `maxReads` is used up, it
 * tries to read one more entry, and fails if there is one.
 */
export class EntryReader {
  readonly #view: ReadView;
  readonly #plan: QueryPlan;
  readonly #meter: ReadMeter;
  readonly #cost: number;
  readonly #looksAhead: boolean;
  readonly #isPoints: boolean;
  /** How many segments have been read, in the reading direction. */
  #segmentsRead = 0;
  /** The key to continue after within the next segment. */
  #after: KvKey | undefined;
  #buffered: KvEntry<unknown>[] = [];
  #isStarted = false;
  /** The minimum number of keys that are read together. It grows if keys have no entry. */
  #minPoints = 0;

  constructor(
    view: ReadView,
    plan: QueryPlan,
    meter: ReadMeter,
    { after, cost, looksAhead = false }: EntryReaderOptions,
  ) {
    this.#view = view;
    this.#plan = plan;
    this.#meter = meter;
    this.#cost = cost;
    this.#looksAhead = looksAhead;
    this.#isPoints = readsWholeKeys(plan);
    if (after === undefined) return;
    const place = findSegment(plan, after);
    this.#segmentsRead = plan.reverse ? plan.segments.length - 1 - place : place;
    if (this.#isPoints) this.#segmentsRead++;
    else this.#after = after;
  }

  async next(count: number): Promise<KvEntry<unknown>[]> {
    const { left } = this.#meter;
    const affordable = Math.floor((left + this.#buffered.length) / this.#cost);
    const wanted = Math.max(1, Math.min(count, maxBatch, affordable));
    const isExtraAffordable = left + this.#buffered.length > wanted * this.#cost;
    const extra = this.#looksAhead && isExtraAffordable ? 1 : 0;
    while (this.#buffered.length < wanted) {
      if (!(await this.#read(wanted - this.#buffered.length + extra))) break;
    }
    return this.#buffered.splice(0, wanted);
  }

  async hasMore(): Promise<boolean> {
    while (this.#buffered.length === 0 && this.#meter.left > 0) {
      if (!(await this.#read(1))) return false;
    }
    return this.#buffered.length > 0 || this.#nextSegment() !== undefined;
  }

  /** Reads up to `count` entries within one range. Returns false if no segment is left. */
  async #read(count: number): Promise<boolean> {
    const view = this.#view;
    if (!this.#isStarted && view.needsChangeMarks) await this.#start();
    const segment = this.#nextSegment();
    if (segment === undefined) return false;
    const due = view.beginPage(this.#plan.index);
    if (due !== undefined) await due;
    if (this.#isPoints) await this.#readPoints(count);
    else await this.#readRange(segment, count);
    return true;
  }

  async #start(): Promise<void> {
    this.#isStarted = true;
    const { kv, model } = this.#view;
    const [first, ...others] = this.#plan.segments;
    if (this.#isPoints || first === undefined) return;
    let length = 0;
    while (
      length < first.equals.length &&
      others.every(({ equals }) => isSamePart(equals[length], first.equals[length]))
    ) {
      length++;
    }
    // This mark changes if a row enters the range. A transaction fails to commit if a key that it
    // has read changes, so reading the mark protects it against such rows.
    await kv.get(changeMarkOfRead(model, this.#plan.index, first.equals.slice(0, length)));
  }

  async #readPoints(count: number): Promise<void> {
    // An entry that is found costs further reads if its row is read. So no more keys are read than
    // `maxReads` allows if all of them are found.
    const bufferedBefore = this.#buffered.length;
    const affordable = Math.floor(
      (this.#meter.left - bufferedBefore * (this.#cost - 1)) / this.#cost,
    );
    const maxKeys = Math.max(1, Math.min(Math.max(count, this.#minPoints), affordable));
    const keys: KvKey[] = [];
    for (
      let segment = this.#nextSegment();
      segment && keys.length < maxKeys;
      segment = this.#nextSegment()
    ) {
      keys.push(prefixOf(this.#plan, segment));
      this.#segmentsRead++;
    }
    this.#meter.add(keys.length);
    for (const entry of await readKeys(this.#view, keys)) {
      if (entry.versionstamp !== null) this.#buffered.push(entry);
    }
    const isSparse = this.#buffered.length - bufferedBefore < keys.length;
    this.#minPoints = isSparse ? Math.min(keys.length * 2, maxBatch) : 0;
  }

  async #readRange(segment: Segment, count: number): Promise<void> {
    const selector = selectorOf(this.#plan, segment, this.#after);
    const { reverse } = this.#plan;
    // The entries may be rows or copies of rows, whose schema the catalog must determine.
    const entries =
      selector === undefined
        ? []
        : await readWithSchema(this.#view, () => listEntries(this.#view, selector, reverse, count));
    this.#meter.add(entries.length);
    const last = entries.at(-1);
    if (last === undefined || entries.length < count) {
      this.#segmentsRead++;
      this.#after = undefined;
    } else {
      this.#after = last.key;
    }
    for (const entry of entries) {
      if (belongsToSegment(this.#plan, segment, entry.key)) this.#buffered.push(entry);
    }
  }

  #nextSegment(): Segment | undefined {
    const { segments, reverse } = this.#plan;
    return segments[reverse ? segments.length - 1 - this.#segmentsRead : this.#segmentsRead];
  }
}

/** Lists up to `count` entries of a range, in one batch if the database allows it. */
export async function listEntries(
  { kv }: Pick<ReadView, "kv">,
  selector: KvListSelector,
  reverse: boolean,
  count: number,
): Promise<KvEntry<unknown>[]> {
  const list = kv.list(selector, { reverse, limit: count, batchSize: count });
  const entries = (await list.nextBatch?.()) ?? [];
  if (entries.length === count) return entries;
  for (let next = await list.next(); next.done !== true; next = await list.next()) {
    entries.push(next.value);
  }
  return entries;
}
