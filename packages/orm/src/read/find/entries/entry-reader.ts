import type { KvKey, KvListedEntry, KvPageOptions, MaybePromise } from "@keywright/core";
import { changeMarkOfRead } from "../../../derived/changes/change-marks.js";
import { isSamePart } from "../../../model/keys/key-parts.js";
import { whenReady } from "../../../promises/when-ready.js";
import { yieldToEventLoop } from "../../../promises/yield-to-event-loop.js";
import type { ReadMeter } from "../../../state/context/read-meter.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { readPage } from "../../../state/rows/read-page.js";
import { readKeys, readWithSchema } from "../../../state/rows/read-rows.js";
import { listedEntries } from "../../../state/transaction/reads/list-as-page.js";
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

/** After how many entries other work of the process gets its turn, if they are read at once. */
const entriesPerTurn = 5000;

export interface EntryReaderOptions {
  readonly after?: KvKey | undefined;
  /** How many reads an entry costs, including the entry itself: 2 if its row is read too. */
  readonly cost: number;
  /** True to read one entry more than requested, if the limit allows it, to see if there is one. */
  readonly looksAhead?: boolean;
  /** False if the values of the entries are not used, but only their keys. The default is true. */
  readonly withValues?: boolean;
  /** The properties of the values that are used. The default is all. */
  readonly properties?: ReadonlySet<string> | undefined;
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
  readonly #values: Pick<KvPageOptions, "withValues" | "properties">;
  readonly #isPoints: boolean;
  /** How many segments have been read, in the reading direction. */
  #segmentsRead = 0;
  /** The key to continue after within the next segment. */
  #after: KvKey | undefined;
  #buffered: KvListedEntry[] = [];
  #isStarted = false;
  /** How many entries were read since other work had its turn. */
  #sinceTurn = 0;
  /** The minimum number of keys that are read together. It grows if keys have no entry. */
  #minPoints = 0;

  constructor(
    view: ReadView,
    plan: QueryPlan,
    meter: ReadMeter,
    { after, cost, looksAhead = false, withValues = true, properties }: EntryReaderOptions,
  ) {
    this.#view = view;
    this.#plan = plan;
    this.#meter = meter;
    this.#cost = cost;
    this.#looksAhead = looksAhead;
    this.#values = { withValues, properties };
    this.#isPoints = readsWholeKeys(plan);
    if (after === undefined) return;
    const place = findSegment(plan, after);
    this.#segmentsRead = plan.reverse ? plan.segments.length - 1 - place : place;
    if (this.#isPoints) this.#segmentsRead++;
    else this.#after = after;
  }

  next(count: number): MaybePromise<KvListedEntry[]> {
    const { left } = this.#meter;
    const affordable = Math.floor((left + this.#buffered.length) / this.#cost);
    const wanted = Math.max(1, Math.min(count, maxBatch, affordable));
    const isExtraAffordable = left + this.#buffered.length > wanted * this.#cost;
    const extra = this.#looksAhead && isExtraAffordable ? 1 : 0;
    return whenReady(this.#fill(wanted, extra), () => this.#take(wanted));
  }

  #take(wanted: number): KvListedEntry[] {
    if (this.#buffered.length > wanted) return this.#buffered.splice(0, wanted);
    const all = this.#buffered;
    this.#buffered = [];
    return all;
  }

  hasMore(): MaybePromise<boolean> {
    if (this.#buffered.length > 0) return true;
    if (this.#nextSegment() === undefined) return false;
    if (this.#meter.left <= 0) return true;
    return whenReady(this.#read(1), () => this.hasMore());
  }

  /** Reads until as many entries are buffered as are wanted, or until no segment is left. */
  #fill(wanted: number, extra: number): MaybePromise<void> {
    while (this.#buffered.length < wanted && this.#nextSegment() !== undefined) {
      const reading = this.#read(wanted - this.#buffered.length + extra);
      if (reading instanceof Promise) return reading.then(() => this.#fill(wanted, extra));
    }
  }

  /** Reads up to `count` entries within one range. There must be a next segment. */
  #read(count: number): MaybePromise<void> {
    const begun = this.#isStarted ? undefined : this.#start();
    if (begun !== undefined) return begun.then(() => this.#read(count));
    if (this.#sinceTurn >= entriesPerTurn) {
      this.#sinceTurn = 0;
      this.#view.holdState();
      return yieldToEventLoop().then(() => this.#read(count));
    }
    const read = () =>
      this.#isPoints ? this.#readPoints(count) : this.#readRange(this.#nextSegment()!, count);
    return whenReady(this.#view.beginPage(this.#plan.index), read);
  }

  /** Returns a promise if there is something to do before the first read. */
  #start(): Promise<unknown> | undefined {
    this.#isStarted = true;
    if (!this.#view.needsChangeMarks) return undefined;
    const { kv, model } = this.#view;
    const [first, ...others] = this.#plan.segments;
    if (this.#isPoints || first === undefined) return undefined;
    let length = 0;
    while (
      length < first.equals.length &&
      others.every(({ equals }) => isSamePart(equals[length], first.equals[length]))
    ) {
      length++;
    }
    // This mark changes if a row enters the range. A transaction fails to commit if a key that it
    // has read changes, so reading the mark protects it against such rows.
    return kv.get(changeMarkOfRead(model, this.#plan.index, first.equals.slice(0, length)));
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
    this.#sinceTurn += keys.length;
    this.#buffered.push(...listedEntries(await readKeys(this.#view, keys)));
    const isSparse = this.#buffered.length - bufferedBefore < keys.length;
    this.#minPoints = isSparse ? Math.min(keys.length * 2, maxBatch) : 0;
  }

  #readRange(segment: Segment, limit: number): MaybePromise<void> {
    const selector = selectorOf(this.#plan, segment, this.#after);
    const options = { ...this.#values, limit, reverse: this.#plan.reverse };
    // The entries may be rows or copies of rows, whose schema the catalog must determine.
    const entries =
      selector === undefined
        ? []
        : readWithSchema(this.#view, () => readPage(this.#view, selector, options));
    return whenReady(entries, (found) => this.#add(segment, found, limit));
  }

  /** @param limit how many entries were wanted. */
  #add(segment: Segment, entries: readonly KvListedEntry[], limit: number): void {
    this.#meter.add(entries.length);
    this.#sinceTurn += entries.length;
    const last = entries.at(-1);
    if (last === undefined || entries.length < limit) {
      this.#segmentsRead++;
      this.#after = undefined;
    } else {
      this.#after = last.key;
    }
    for (const entry of entries) {
      if (belongsToSegment(this.#plan, segment, entry)) this.#buffered.push(entry);
    }
  }

  #nextSegment(): Segment | undefined {
    const { segments, reverse } = this.#plan;
    return segments[reverse ? segments.length - 1 - this.#segmentsRead : this.#segmentsRead];
  }
}
