import type { KvEntry, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { limbsOf } from "../../model/aggregates/amount.js";
import type { Counter } from "../../model/aggregates/counter.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { keyText } from "../../model/keys/key-text.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { isRow } from "../../model/rows/stored-row.js";
import { systemValue } from "../../state/catalog/system-value.js";
import type { ModelStore } from "../../state/context/model-store.js";
import { readStored } from "../../state/rows/read-rows.js";
import { type MigrationRun, maxBatchRows } from "../../state/run/migration-run.js";
import { readEntriesAfter } from "../../state/run/read-entries-after.js";
import { checkRanks } from "../ranks/check-ranks.js";
import { counterAmounts } from "./counter-amounts.js";
import { counterKey, counterShape } from "./counter-keys.js";
import { type CounterSet, maintainedCounters } from "./maintained-counters.js";

/** A counter that differs from the rows that it counts. */
export interface WrongCounter {
  readonly model: string;
  /** The name of the index. Undefined for a counter of all rows. */
  readonly index: string | undefined;
  /**
   * The key of the index whose rows are counted. Empty for all rows. For a ranked index, the entry
   * at which the interval begins, or empty for the first interval.
   */
  readonly parts: readonly KvKeyPart[];
  /** True for the numbers of an interval of a ranked index. */
  readonly isRanked: boolean;
  /** The field that is summed. Undefined if rows are counted. */
  readonly sum: string | undefined;
}

/** The counts, sums and ranks of a model that a verification found wrong. */
export interface CheckedCounters {
  /** How many counters are wrong. */
  readonly count: number;
  /** The first 100. */
  readonly first: readonly WrongCounter[];
  /** The number of groups that could not be compared, because others wrote them all the time. */
  readonly unchecked: number;
  /** How many of the wrong counters were built again. */
  readonly repaired: number;
}

/** The rows of one key of an index, or all rows of a model, with the counters that count them. */
interface Group {
  readonly index: CompiledIndex | undefined;
  readonly counters: readonly Counter[];
  readonly parts: readonly KvKeyPart[];
  /** The right values of the counters, by their keys as text. */
  readonly expected: Map<string, bigint>;
}

type Entries = KvEntry<unknown>[];

const groupsAtOnce = 100;
const maxListed = 100;
const maxAttempts = 3;
/** The maximum number of keys without entries that are looked at. */
const maxFound = 10_000;

/**
 * Compares the counts and sums that a model maintains with its index entries and its rows, in
 * bounded memory, while others read and write. A group that looks wrong is read again until none of
 * its counters changes while it is read, so that concurrent writes cause no false findings. Nothing
 * is compared if rows expire, because the counters include expired rows.
 *
 * @returns `"stopped"` if the signal stopped it.
 */
export async function checkCounters(
  store: ModelStore,
  run: MigrationRun,
): Promise<CheckedCounters | "stopped"> {
  const { catalog } = store;
  await catalog.reload();
  const { entry } = catalog.snapshot;
  const { complete: counters } = maintainedCounters(catalog.snapshot);
  const check = new CounterCheck(store, run);
  if (counters !== undefined && entry.expires !== true) {
    const ofRows = counters.rows.filter(({ ranked }) => ranked === undefined);
    if (ofRows.length > 0 && !(await check.rows(ofRows))) return "stopped";
    for (const [index, all] of counters.indexes) {
      const ofIndex = all.filter(({ ranked }) => ranked === undefined);
      if (ofIndex.length > 0 && !(await check.index(index, ofIndex))) return "stopped";
      for (const counter of all) {
        if (counter.ranked !== undefined && !(await check.ranks(index, counter))) return "stopped";
      }
    }
  }
  const { count, first, unchecked } = check;
  return { count, first, unchecked, repaired: 0 };
}

class CounterCheck {
  count = 0;
  unchecked = 0;
  readonly first: WrongCounter[] = [];
  readonly #store: ModelStore;
  readonly #run: MigrationRun;

  constructor(store: ModelStore, run: MigrationRun) {
    this.#store = store;
    this.#run = run;
  }

  /** Compares the counters of all rows. Returns false if the signal stopped it. */
  async rows(counters: readonly Counter[]): Promise<boolean> {
    const group = newGroup(undefined, counters, []);
    if (!(await this.#addAll(group))) return false;
    await this.#compare([group]);
    return true;
  }

  /** Compares the counters of all keys of an index. Returns false if the signal stopped it. */
  async index(index: CompiledIndex, counters: readonly Counter[]): Promise<boolean> {
    let groups: Group[] = [];
    let counted = 0;
    let after: KvKey | null = null;
    for (;;) {
      if (this.#run.signal?.aborted) return false;
      const start: KvKey | null = after;
      const limit = Math.min(maxBatchRows, this.#run.batchRows);
      const entries: Entries = await readEntriesAfter(this.#store, [index.place], start, limit);
      const rows = await this.#rowsOf(index, entries);
      for (const [i, { key }] of entries.entries()) {
        const parts = key.slice(1, 1 + index.parts.length);
        const last = groups.at(-1);
        if (last === undefined || !isSameKey(last.parts, parts)) {
          // The last group may continue on the next page.
          if (groups.length >= groupsAtOnce) {
            counted += await this.#compare(groups);
            groups = [];
          }
          groups.push(newGroup(index, counters, parts));
        }
        addRow(groups.at(-1)!, key, rows[i]);
      }
      await this.#run.afterBatch(entries.length);
      after = entries.at(-1)?.key ?? after;
      if (entries.length < limit) break;
    }
    counted += await this.#compare(groups);
    return await this.#findOthers(index, counters, counted);
  }

  /** Compares the intervals of a ranked index. Returns false if the signal stopped it. */
  async ranks({ name: index }: CompiledIndex, counter: Counter): Promise<boolean> {
    const checked = await checkRanks(this.#store, this.#run, counter);
    if (checked === "stopped") return false;
    this.unchecked += checked.unchecked;
    for (const parts of checked.wrong) this.#add({ index, parts, sum: undefined, isRanked: true });
    return true;
  }

  #add(wrong: Omit<WrongCounter, "model">): void {
    this.count++;
    if (this.first.length < maxListed) this.first.push({ model: this.#store.model.name, ...wrong });
  }

  /** Finds counters of keys that have no entries, if there are more counters than were compared. */
  async #findOthers(
    index: CompiledIndex,
    counters: readonly Counter[],
    counted: number,
  ): Promise<boolean> {
    const found: (readonly KvKeyPart[])[] = [];
    let all = 0;
    for (const isFinding of [false, true]) {
      if (isFinding && all === counted) return true;
      for (const counter of counters) {
        const prefix = counterKey(counter, []);
        let after: KvKey | null = null;
        for (;;) {
          if (this.#run.signal?.aborted) return false;
          const start: KvKey | null = after;
          const entries: Entries = await readEntriesAfter(this.#store, prefix, start, maxBatchRows);
          for (const entry of entries) {
            if (this.#numberOf(entry) === 0n) continue;
            if (!isFinding) all++;
            else {
              const parts = entry.key.slice(prefix.length, prefix.length + index.parts.length);
              if (found.length < maxFound && !(await this.#hasEntry(index, parts)))
                found.push(parts);
            }
          }
          await this.#run.afterBatch(0);
          after = entries.at(-1)?.key ?? after;
          if (entries.length < maxBatchRows) break;
        }
      }
    }
    const groups = new Map(found.map((parts) => [keyText(parts), parts]));
    await this.#compare([...groups.values()].map((parts) => newGroup(index, counters, parts)));
    return true;
  }

  async #hasEntry(index: CompiledIndex, parts: readonly KvKeyPart[]): Promise<boolean> {
    const key = [index.place, ...parts];
    if (index.unique) return (await this.#store.kv.get(key)).versionstamp !== null;
    return (await readEntriesAfter(this.#store, key, null, 1)).length > 0;
  }

  /** Compares groups with the stored counters. Returns how many of these are not 0. */
  async #compare(groups: readonly Group[]): Promise<number> {
    let counted = 0;
    for (let from = 0; from < groups.length; from += groupsAtOnce) {
      const some = groups.slice(from, from + groupsAtOnce);
      const keys = some.map(keysOf);
      const stored = await readStored(this.#store, keys.flat());
      let next = 0;
      for (const [i, group] of some.entries()) {
        const own = stored.slice(next, next + keys[i]!.length);
        next += keys[i]!.length;
        counted += own.filter((entry) => this.#numberOf(entry) !== 0n).length;
        if (this.#wrongIn(group, own).length > 0) await this.#confirm(group);
      }
    }
    return counted;
  }

  /** Compares a group again, until its counters stay the same while its rows are read. */
  async #confirm(suspect: Group): Promise<void> {
    const keys = keysOf(suspect);
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const before = await readStored(this.#store, keys);
      const group = newGroup(suspect.index, suspect.counters, suspect.parts);
      if (!(await this.#addAll(group))) return;
      const stored = await readStored(this.#store, keys);
      const isSame = stored.every(
        ({ versionstamp }, i) => versionstamp === before[i]?.versionstamp,
      );
      if (!isSame) continue;
      const { index, parts } = group;
      for (const { sum } of this.#wrongIn(group, stored)) {
        this.#add({ index: index?.name, parts, sum: sum?.field, isRanked: false });
      }
      return;
    }
    this.unchecked++;
  }

  /** Adds all rows of a group to it. Returns false if the signal stopped it. */
  async #addAll(group: Group): Promise<boolean> {
    const { index, parts } = group;
    const { model, kv } = this.#store;
    const prefix = index === undefined ? [model.place] : [index.place, ...parts];
    if (index?.unique) {
      const entry = await kv.get(prefix);
      if (entry.versionstamp !== null)
        addRow(group, prefix, (await this.#rowsOf(index, [entry]))[0]);
      return true;
    }
    let after: KvKey | null = null;
    for (;;) {
      if (this.#run.signal?.aborted) return false;
      const start: KvKey | null = after;
      const limit = Math.min(maxBatchRows, this.#run.batchRows);
      const entries: Entries = await readEntriesAfter(this.#store, prefix, start, limit);
      const rows =
        index === undefined
          ? entries.map(({ value }) => value)
          : await this.#rowsOf(index, entries);
      for (const [i, { key }] of entries.entries()) {
        const isEntry = index !== undefined || key.length === 1 + model.primaryKey.length;
        if (isEntry) addRow(group, key, rows[i]);
      }
      await this.#run.afterBatch(entries.length);
      after = entries.at(-1)?.key ?? after;
      if (entries.length < limit) return true;
    }
  }

  /** Returns the stored rows of index entries. */
  async #rowsOf(
    index: CompiledIndex,
    entries: readonly KvEntryMaybe<unknown>[],
  ): Promise<unknown[]> {
    const { model } = this.#store;
    const keys = entries.map(({ value }) => primaryKeyOfEntry(model, index, value));
    const known = keys.flatMap((key) => (key === undefined ? [] : [rowKey(model, key)]));
    const rows = (await readStored(this.#store, known)).values();
    return keys.map((key) => (key === undefined ? undefined : rows.next().value?.value));
  }

  #wrongIn(group: Group, stored: readonly KvEntryMaybe<unknown>[]): Counter[] {
    const wrong = new Set<Counter>();
    for (const [i, { counter, key }] of namedKeysOf(group).entries()) {
      const expected = BigInt.asUintN(64, group.expected.get(keyText(key)) ?? 0n);
      if (this.#numberOf(stored[i]!) !== expected) wrong.add(counter);
    }
    return [...wrong];
  }

  #numberOf(entry: KvEntryMaybe<unknown>): bigint {
    const { name } = this.#store.model;
    return systemValue(entry, counterShape, name)?.value ?? 0n;
  }
}

function newGroup(
  index: CompiledIndex | undefined,
  counters: readonly Counter[],
  parts: readonly KvKeyPart[],
): Group {
  return { index, counters, parts, expected: new Map() };
}

/** Adds what a row adds to the counters of a group. */
function addRow({ index, counters, expected }: Group, key: KvKey, row: unknown): void {
  if (!isRow(row)) return;
  const set: CounterSet =
    index === undefined
      ? { rows: counters, indexes: new Map() }
      : { rows: [], indexes: new Map([[index, counters]]) };
  const entries = index === undefined ? [] : [{ index, key, value: undefined }];
  for (const { key: counted, by } of counterAmounts(set, row, entries)) {
    const text = keyText(counted);
    expected.set(text, (expected.get(text) ?? 0n) + by);
  }
}

function keysOf(group: Group): KvKey[] {
  return namedKeysOf(group).map(({ key }) => key);
}

/** Returns the keys under which the counters of a group can be stored. */
function namedKeysOf({ counters, parts }: Group): { counter: Counter; key: KvKey }[] {
  return counters.flatMap((counter) =>
    counter.sum === undefined
      ? [{ counter, key: counterKey(counter, parts) }]
      : limbsOf(counter.sum).map((limb) => ({ counter, key: counterKey(counter, parts, limb) })),
  );
}
