import type { KvKey, KvKeyPart, KvListSelector } from "@keywright/core";
import { changeMarkOfRead } from "../../derived/changes/change-marks.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { isSameKey, keyAfter, partAfter } from "../../model/keys/key-parts.js";
import { inParallel } from "../../promises/in-parallel.js";
import type { KeySource } from "../../state/context/open-filters.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { readPage } from "../../state/rows/read-page.js";
import { readWithSchema } from "../../state/rows/read-rows.js";
import { type KeyId, keyIdOf } from "../../state/transaction/buffer/key-id.js";
import { maxSkipped, maySkipEntries } from "../find/entries/walk-ranges.js";

type PrimaryKey = readonly KvKeyPart[];

/**
 * Ranges of keys. After its prefix, each key continues with a primary key of another model, or with
 * the rest of one.
 */
export interface WalkedRanges {
  /** The index of the walked model; undefined for the keys of its rows. */
  readonly index: CompiledIndex | undefined;
  /** The first parts of the keys of each range. */
  readonly prefixes: readonly (readonly KvKeyPart[])[];
  /** The first parts of all primary keys, which do not follow the prefix. */
  readonly start: readonly KvKeyPart[];
  /** The number of parts of the primary keys that follow the prefix. */
  readonly restLength: number;
}

interface Range {
  readonly prefix: readonly KvKeyPart[];
  /** Keys that were read and not returned yet. */
  readonly keys: { readonly id: KeyId; readonly key: PrimaryKey }[];
  /** The rest of the last primary key that was read, or of the one after which the walk begins. */
  last: PrimaryKey | undefined;
  /** The whole key that was read last. */
  lastEntry: KvKey | undefined;
  /** How many entries are read next. */
  batch: number;
  isDone: boolean;
}

const maxConcurrent = 50;

/** The maximum number of entries that are read at a time. */
const maxBatch = 128;

/** The number of entries that are read first if entries may be skipped. */
const firstBatch = 32;

/**
 * Returns the primary keys in some ranges, each once, in their order. After a key, it skips the
 * other entries with this key. So it reads at most two entries for each key and range, and two more
 * for each range. If it may skip entries, it reads those of several keys together.
 */
export class KeyWalk implements KeySource {
  readonly #view: ReadView;
  readonly #walked: WalkedRanges;
  readonly #reverse: boolean;
  readonly #meter: ReadMeter;
  readonly #ranges: readonly Range[];
  readonly #maySkip: boolean;
  #isStarted = false;

  constructor(
    view: ReadView,
    walked: WalkedRanges,
    after: PrimaryKey | undefined,
    reverse: boolean,
    meter: ReadMeter,
  ) {
    this.#view = view;
    this.#walked = walked;
    this.#reverse = reverse;
    this.#meter = meter;
    this.#ranges = walked.prefixes.map((prefix) => ({
      prefix,
      keys: [],
      last: after?.slice(walked.start.length),
      lastEntry: undefined,
      batch: 1,
      isDone: after !== undefined && walked.restLength === 0,
    }));
    const [only, ...others] = this.#ranges;
    this.#maySkip = maySkipEntries(view, meter);
    if (only !== undefined && others.length === 0 && this.#maySkip) only.batch = firstBatch;
  }

  async next(count: number): Promise<readonly PrimaryKey[]> {
    const found: PrimaryKey[] = [];
    const [only, ...others] = this.#ranges;
    while (found.length < count) {
      if (only !== undefined && others.length === 0) {
        if ((await this.#first(count - found.length)) === undefined) break;
        for (const { key } of only.keys.splice(0, count - found.length)) found.push(key);
        continue;
      }
      const key = await this.#first(count - found.length);
      if (key === undefined) break;
      for (const range of this.#ranges) if (range.keys[0]?.id === key.id) range.keys.shift();
      found.push(key.key);
    }
    if (this.#maySkip) this.#meter.add(found.length);
    return found;
  }

  async hasMore(): Promise<boolean> {
    if (this.#meter.left < 1) return true;
    return (await this.#first(1)) !== undefined;
  }

  /** Returns the first key of all ranges, and leaves it there. */
  async #first(wanted: number): Promise<Range["keys"][number] | undefined> {
    if (!this.#isStarted) await this.#start();
    const empty = this.#ranges.filter(({ keys, isDone }) => keys.length === 0 && !isDone);
    if (empty.length > 0)
      await inParallel(empty, maxConcurrent, (range) => this.#fill(range, wanted));
    let first: Range["keys"][number] | undefined;
    for (const { keys } of this.#ranges) {
      const [next] = keys;
      if (next === undefined) continue;
      const isBefore = first === undefined || next.id < first.id !== this.#reverse;
      if (isBefore && next.id !== first?.id) first = next;
    }
    return first;
  }

  async #start(): Promise<void> {
    this.#isStarted = true;
    const { kv, model } = this.#view;
    const { index, prefixes } = this.#walked;
    await this.#view.beginPage(index);
    if (!this.#view.needsChangeMarks) return;
    // The mark changes if a row enters the range, so the transaction then fails to commit.
    for (const prefix of prefixes) await kv.get(changeMarkOfRead(model, index, prefix));
  }

  /** Reads entries of a range until it has a key or ends. */
  async #fill(range: Range, wanted: number): Promise<void> {
    while (range.keys.length === 0 && !range.isDone) await this.#read(range, wanted);
  }

  async #read(range: Range, wanted: number): Promise<void> {
    const { model } = this.#view;
    const { index, start: keyStart, restLength } = this.#walked;
    const mostPerKey = this.#maySkip ? maxSkipped : 1;
    const most = Math.min(wanted * mostPerKey, maxBatch, this.#meter.left);
    const limit = Math.max(1, Math.min(range.batch, most));
    const selector = this.#selectorOf(range);
    const options = { limit, reverse: this.#reverse, withValues: false };
    const entries = await readWithSchema(this.#view, () => readPage(this.#view, selector, options));
    const isEntryKey = index === undefined ? 1 + model.primaryKey.length : undefined;
    let distinct = 0;
    for (const entry of entries) {
      range.lastEntry = entry.key;
      const start = 1 + range.prefix.length;
      const rest = entry.key.slice(start, start + restLength);
      const isValid = isEntryKey === undefined || entry.key.length === isEntryKey;
      if (rest.length < restLength || !isValid) continue;
      if (range.last !== undefined && isSameKey(rest, range.last)) continue;
      range.last = rest;
      distinct++;
      const key = [...keyStart, ...rest];
      range.keys.push({ id: keyIdOf(key, model.keyOrder), key });
    }
    // Keys that are read ahead are counted when they are returned.
    this.#meter.add(this.#maySkip ? 0 : entries.length);
    range.batch = entries.length <= distinct * mostPerKey ? limit * 2 : 1;
    const isOnly = restLength === 0 && range.last !== undefined;
    range.isDone = isOnly || entries.length < limit;
  }

  #selectorOf({ prefix, last, lastEntry }: Range): KvListSelector {
    const place = this.#walked.index?.place ?? this.#view.model.place;
    const whole = [place, ...prefix];
    if (last === undefined) {
      if (lastEntry === undefined) return { prefix: whole };
      return this.#reverse
        ? { prefix: whole, end: lastEntry }
        : { prefix: whole, start: keyAfter(lastEntry) };
    }
    if (this.#reverse) return { prefix: whole, end: [...whole, ...last] };
    const next = partAfter(last.at(-1)!);
    // The last part of a type has no next part. Then the entries are read one after another.
    if (next === undefined) {
      return {
        prefix: whole,
        start: lastEntry === undefined ? [...whole, ...last] : keyAfter(lastEntry),
      };
    }
    return { prefix: whole, start: [...whole, ...last.slice(0, -1), next] };
  }
}
