import type { KvEntry, KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import { limbsOf } from "../../model/aggregates/amount.js";
import type { Counter } from "../../model/aggregates/counter.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { expectedEntries } from "../../model/keys/expected-entries.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { keyText } from "../../model/keys/key-text.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { isRow } from "../../model/rows/stored-row.js";
import { systemValue } from "../../state/catalog/system-value.js";
import type { ModelStore } from "../../state/context/model-store.js";
import { readStored } from "../../state/rows/read-rows.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { scan } from "../../state/run/page-reader.js";
import { readEntriesAfter } from "../../state/run/read-entries-after.js";
import type { VerifyContext } from "../maintenance.js";
import { compareRanks } from "../ranks/compare-ranks.js";
import type { Verification, WrongCounter } from "../verify/verification.js";
import type { Confirmed, Scan, Suspect, Verifier } from "../verify/verifier.js";
import { whileUnchanged } from "../verify/while-unchanged.js";
import { counterAmounts } from "./counter-amounts.js";
import { counterKey, counterShape } from "./counter-keys.js";
import { dropCounters, dropsCounters } from "./drop-counters.js";
import { type CounterSet, maintainedCounters } from "./maintained-counters.js";

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

/** A counter of the rows of one key of an index, or of all rows of a model. */
interface CounterOfGroup {
  readonly counter: Counter;
  readonly index: CompiledIndex | undefined;
  readonly parts: readonly KvKeyPart[];
}

type Found = WrongCounter | "unchecked";

const noCounters: CounterSet = { rows: [], indexes: new Map() };

/**
 * Compares the counts, sums and ranks that a model maintains with its rows. The first phase sums up
 * what the rows add to counters, and what is stored. A counter that may differ is compared with the
 * index entries of its key and their rows, again until it does not change while they are read.
 * Nothing is compared if rows expire, because the counters include expired rows, and from when the
 * counters are to be built again.
 */
export class CountersVerifier implements Verifier<Found> {
  readonly #store: ModelStore;
  readonly #run: MigrationRun;
  readonly #verification: Verification;
  readonly #repair: boolean;
  readonly #recounts: boolean;
  readonly #isCompared: boolean;

  constructor({ store, run, verification, repair, recount, onlyIndexes }: VerifyContext) {
    this.#store = store;
    this.#run = run;
    this.#verification = verification;
    this.#repair = repair;
    this.#recounts = repair && recount === true;
    this.#isCompared = !onlyIndexes && !this.#recounts;
  }

  get #counters(): CounterSet {
    const { snapshot } = this.#store.catalog;
    if (!this.#isCompared || snapshot.entry.expires === true) return noCounters;
    return maintainedCounters(snapshot).complete ?? noCounters;
  }

  compareRows(page: readonly KvEntry<AnyRow>[]): [] {
    const { isSumming, sums } = this.#verification;
    const counters = this.#counters;
    if (!isSumming || counters === noCounters) return [];
    const { model } = this.#store;
    const indexes = [...counters.indexes.keys()];
    for (const { key, value } of page) {
      const primaryKey = key.slice(1);
      if (!isRow(value) || primaryKey.length !== model.primaryKey.length) continue;
      const entries = expectedEntries(model, indexes, value, primaryKey);
      for (const amount of counterAmounts(counters, value, entries)) {
        sums.addAmount(amount.key, amount.by);
      }
    }
    return [];
  }

  scans(): Scan<Found>[] {
    const { rows, indexes } = this.#counters;
    const { isSumming } = this.#verification;
    const scans: Scan<Found>[] = [];
    for (const [index, counters] of indexes) {
      const stored = counters.filter(({ ranked }) => ranked === undefined);
      for (const counter of stored) {
        scans.push({
          prefix: counterKey(counter, []),
          compare: (page, after) => this.#compareStored(index, counter, page, after),
        });
      }
      if (!isSumming && stored.length > 0) {
        scans.push({
          prefix: [index.place],
          compare: (page, after) => this.#compareGroups(index, stored, page, after),
        });
      }
      for (const counter of isSumming ? counters : []) {
        if (counter.ranked === undefined) continue;
        const add = (parts: readonly KvKeyPart[]) =>
          this.#wrong(index.name, parts, undefined, true);
        const compare = () => compareRanks(this.#store, this.#run, counter, add);
        scans.push({ prefix: undefined, compare });
      }
    }
    if (rows.length > 0)
      scans.push({ prefix: undefined, compare: () => this.#compareTotals(rows) });
    return scans;
  }

  /** Compares stored counters of an index. One of a key without entries is found here. */
  #compareStored(
    index: CompiledIndex,
    counter: Counter,
    page: readonly KvEntry<unknown>[],
    after: KvKey | null,
  ): Suspect<Found>[] {
    const { isSumming, sums } = this.#verification;
    if (isSumming) {
      for (const entry of page) sums.addAmount(entry.key, -this.#numberOf(entry));
      return [];
    }
    const from = counterKey(counter, []).length;
    return newParts(page, after, from, index.parts.length).flatMap((parts) => {
      const group = { counter, index, parts };
      if (!this.#mayDiffer(group)) return [];
      return async () => ((await this.#hasEntry(index, parts)) ? undefined : this.#compare(group));
    });
  }

  /** Compares the counters of the keys of index entries. */
  #compareGroups(
    index: CompiledIndex,
    counters: readonly Counter[],
    page: readonly KvEntry<unknown>[],
    after: KvKey | null,
  ): Suspect<Found>[] {
    return newParts(page, after, 1, index.parts.length).flatMap((parts) =>
      this.#suspects(counters.map((counter) => ({ counter, index, parts }))),
    );
  }

  /** Compares the counters of all rows. */
  async #compareTotals(counters: readonly Counter[]): Promise<Suspect<Found>[]> {
    const { isSumming, sums } = this.#verification;
    const groups = counters.map((counter) => ({ counter, index: undefined, parts: [] }));
    if (!isSumming) return this.#suspects(groups);
    for (const entry of await readStored(this.#store, groups.flatMap(keysOf))) {
      sums.addAmount(entry.key, -this.#numberOf(entry));
    }
    return [];
  }

  #suspects(groups: readonly CounterOfGroup[]): Suspect<Found>[] {
    return groups
      .filter((group) => this.#mayDiffer(group))
      .map((group) => () => this.#compare(group));
  }

  #mayDiffer(group: CounterOfGroup): boolean {
    return keysOf(group).some((key) => this.#verification.sums.differsAt(key));
  }

  /** Reads all rows of a counter while it does not change. */
  async #compare(group: CounterOfGroup): Promise<Found | undefined> {
    const { counter, index, parts } = group;
    const { catalog } = this.#store;
    if (catalog.snapshot.counterState(counter.name) !== "readable") return undefined;
    const keys = keysOf(group);
    const compared = await whileUnchanged({
      read: () => readStored(this.#store, keys),
      isSame: (before, after) =>
        after.every(({ versionstamp }, i) => versionstamp === before[i]?.versionstamp),
      compute: () => this.#amounts(group),
    });
    if (this.#run.signal?.aborted) return undefined;
    if (compared === undefined) return "unchecked";
    const isRight = compared.state.every(
      (entry, i) => this.#numberOf(entry) === (compared.value.get(keyText(keys[i]!)) ?? 0n),
    );
    return isRight ? undefined : this.#wrong(index?.name, parts, counter.sum?.field, false);
  }

  /** Returns the right numbers of a counter, by their keys as text. */
  async #amounts({ counter, index, parts }: CounterOfGroup): Promise<Map<string, bigint>> {
    const { kv, model } = this.#store;
    const amounts = new Map<string, bigint>();
    const set: CounterSet =
      index === undefined
        ? { rows: [counter], indexes: new Map() }
        : { rows: [], indexes: new Map([[index, [counter]]]) };
    const add = async (page: readonly KvEntryMaybe<unknown>[]) => {
      const rows = index === undefined ? page : await this.#rowsOf(index, page);
      for (const [i, { key }] of page.entries()) {
        const row = rows[i]?.value;
        const isOwn = index !== undefined || key.length === 1 + model.primaryKey.length;
        if (!isOwn || !isRow(row)) continue;
        const entries = index === undefined ? [] : [{ index, key, value: undefined }];
        for (const amount of counterAmounts(set, row, entries)) {
          const text = keyText(amount.key);
          amounts.set(text, BigInt.asUintN(64, (amounts.get(text) ?? 0n) + amount.by));
        }
      }
    };
    if (index?.unique) {
      const entry = await kv.get([index.place, ...parts]);
      if (entry.versionstamp !== null) await add([entry]);
      return amounts;
    }
    const prefix = index === undefined ? [model.place] : [index.place, ...parts];
    for await (const { entries } of scan(this.#store, this.#run, prefix)) await add(entries);
    return amounts;
  }

  /** Returns the stored rows of index entries. */
  async #rowsOf(
    index: CompiledIndex,
    entries: readonly KvEntryMaybe<unknown>[],
  ): Promise<(KvEntryMaybe<unknown> | undefined)[]> {
    const { model } = this.#store;
    const keys = entries.map(({ value }) => primaryKeyOfEntry(model, index, value));
    const known = keys.flatMap((key) => (key === undefined ? [] : [rowKey(model, key)]));
    const rows = (await readStored(this.#store, known)).values();
    return keys.map((key) => (key === undefined ? undefined : rows.next().value));
  }

  async #hasEntry(index: CompiledIndex, parts: readonly KvKeyPart[]): Promise<boolean> {
    const key = [index.place, ...parts];
    if (index.unique) return (await this.#store.kv.get(key)).versionstamp !== null;
    return (await readEntriesAfter(this.#store, key, null, 1)).length > 0;
  }

  #wrong(
    index: string | undefined,
    parts: readonly KvKeyPart[],
    sum: string | undefined,
    isRanked: boolean,
  ): WrongCounter {
    return { model: this.#store.model.name, index, parts, sum, isRanked };
  }

  #numberOf(entry: KvEntryMaybe<unknown>): bigint {
    const { name } = this.#store.model;
    return systemValue(entry, counterShape, name)?.value ?? 0n;
  }

  async settle(found: readonly Confirmed<Found>[]): Promise<void> {
    const { counters } = this.#verification.state;
    for (const { found: one } of found) {
      if (one === "unchecked") counters.unchecked++;
      else {
        counters.count++;
        this.#verification.list("counter", one);
      }
    }
  }

  /** Drops all counters if one is wrong. The repair of an entry has already done so. */
  async mustRebuild(): Promise<boolean> {
    if (!this.#repair) return false;
    const { state } = this.#verification;
    if (state.recounts) return true;
    const { catalog } = this.#store;
    await catalog.reload();
    const isDropping = dropsCounters(catalog.snapshot.entry);
    if (!isDropping && !this.#recounts && state.counters.count === 0) return false;
    if (!isDropping) await dropCounters(this.#store, this.#run);
    // After the counters are dropped, the catalog no longer shows that they have to be rebuilt.
    state.recounts = true;
    await this.#verification.save();
    return true;
  }
}

/** Returns the keys under which a counter can be stored. */
function keysOf({ counter, parts }: CounterOfGroup): KvKey[] {
  return counter.sum === undefined
    ? [counterKey(counter, parts)]
    : limbsOf(counter.sum).map((limb) => counterKey(counter, parts, limb));
}

/** Returns the parts of the keys of a page, each once, and not those of the key before it. */
function newParts(
  page: readonly KvEntry<unknown>[],
  after: KvKey | null,
  from: number,
  length: number,
): KvKey[] {
  const found: KvKey[] = [];
  let last = after?.slice(from, from + length);
  for (const { key } of page) {
    const parts = key.slice(from, from + length);
    if (last === undefined || !isSameKey(last, parts)) found.push(parts);
    last = parts;
  }
  return found;
}
