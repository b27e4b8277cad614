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
import { scan } from "../../state/run/page-reader.js";
import { readEntriesAfter } from "../../state/run/read-entries-after.js";
import { compareRanks } from "../ranks/compare-ranks.js";
import type { WrongCounter } from "../verify/verification.js";
import type { Confirmed, Suspect, Verifier, VerifyContext, Walk } from "../verify/verifier.js";
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
export const countersVerifier: Verifier<Found> = { compare, walks, settle, mustRebuild };

/** Returns the counters that are compared. */
function comparedCounters({
  store: { catalog },
  repair,
  recount = false,
  onlyIndexes = false,
}: VerifyContext): CounterSet {
  const { snapshot } = catalog;
  if (onlyIndexes || (repair && recount) || snapshot.entry.expires === true) return noCounters;
  return maintainedCounters(snapshot).complete ?? noCounters;
}

function compare(page: readonly KvEntry<AnyRow>[], context: VerifyContext): [] {
  const { isSumming, sums } = context.verification;
  const counters = comparedCounters(context);
  if (!isSumming || counters === noCounters) return [];
  const { model } = context.store;
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

function walks(context: VerifyContext): Walk<Found>[] {
  const { store, run, verification } = context;
  const { isSumming } = verification;
  const { rows, indexes } = comparedCounters(context);
  const all: Walk<Found>[] = [];
  for (const [index, counters] of indexes) {
    const stored = counters.filter(({ ranked }) => ranked === undefined);
    for (const counter of stored) {
      all.push({
        prefix: counterKey(counter, []),
        compare: (page, after) => compareStored(context, index, counter, page, after),
      });
    }
    if (!isSumming && stored.length > 0) {
      // The counters of the keys of index entries.
      all.push({
        prefix: [index.place],
        compare: (page, after) =>
          newParts(page, after, 1, index.parts.length).flatMap((parts) => {
            const groups = stored.map((counter) => ({ counter, index, parts }));
            return suspectGroups(context, groups);
          }),
      });
    }
    for (const counter of isSumming ? counters : []) {
      if (counter.ranked === undefined) continue;
      const wrong = (parts: readonly KvKeyPart[]): WrongCounter => {
        return {
          model: store.model.name,
          index: index.name,
          parts,
          sum: undefined,
          isRanked: true,
        };
      };
      all.push({ prefix: undefined, compare: () => compareRanks(store, run, counter, wrong) });
    }
  }
  if (rows.length > 0) all.push({ prefix: undefined, compare: () => compareTotals(context, rows) });
  return all;
}

/** Compares stored counters of an index. One of a key without entries is found here. */
function compareStored(
  context: VerifyContext,
  index: CompiledIndex,
  counter: Counter,
  page: readonly KvEntry<unknown>[],
  after: KvKey | null,
): Suspect<Found>[] {
  const { isSumming, sums } = context.verification;
  if (isSumming) {
    for (const entry of page) sums.addAmount(entry.key, -numberOf(context, entry));
    return [];
  }
  const from = counterKey(counter, []).length;
  return newParts(page, after, from, index.parts.length).flatMap((parts) =>
    suspectGroups(context, [{ counter, index, parts }]).map((readAgain) => async () => {
      return (await hasEntry(context, index, parts)) ? undefined : await readAgain();
    }),
  );
}

/** Compares the counters of all rows. */
async function compareTotals(
  context: VerifyContext,
  counters: readonly Counter[],
): Promise<Suspect<Found>[]> {
  const { isSumming, sums } = context.verification;
  const groups = counters.map((counter) => ({ counter, index: undefined, parts: [] }));
  if (!isSumming) return suspectGroups(context, groups);
  for (const entry of await readStored(context.store, groups.flatMap(keysOf))) {
    sums.addAmount(entry.key, -numberOf(context, entry));
  }
  return [];
}

/** Returns those of some counters that may differ by the sums. */
function suspectGroups(
  context: VerifyContext,
  groups: readonly CounterOfGroup[],
): Suspect<Found>[] {
  const { sums } = context.verification;
  return groups
    .filter((group) => keysOf(group).some((key) => sums.differsAt(key)))
    .map((group) => () => compareGroup(context, group));
}

/** Reads all rows of a counter while it does not change. */
async function compareGroup(
  context: VerifyContext,
  group: CounterOfGroup,
): Promise<Found | undefined> {
  const { store, run } = context;
  const { counter, index, parts } = group;
  if (store.catalog.snapshot.counterState(counter.name) !== "readable") return undefined;
  const keys = keysOf(group);
  const compared = await whileUnchanged({
    read: () => readStored(store, keys),
    isSame: (before, after) =>
      after.every(({ versionstamp }, i) => versionstamp === before[i]?.versionstamp),
    compute: () => amountsOf(context, group),
  });
  if (run.signal?.aborted) return undefined;
  if (compared === undefined) return "unchecked";
  const isRight = compared.state.every(
    (entry, i) => numberOf(context, entry) === (compared.value.get(keyText(keys[i]!)) ?? 0n),
  );
  const sum = counter.sum?.field;
  return isRight
    ? undefined
    : { model: store.model.name, index: index?.name, parts, sum, isRanked: false };
}

/** Returns the right numbers of a counter, by their keys as text. */
async function amountsOf(
  { store, run }: VerifyContext,
  { counter, index, parts }: CounterOfGroup,
): Promise<Map<string, bigint>> {
  const { kv, model } = store;
  const amounts = new Map<string, bigint>();
  const set: CounterSet =
    index === undefined
      ? { rows: [counter], indexes: new Map() }
      : { rows: [], indexes: new Map([[index, [counter]]]) };
  const add = async (page: readonly KvEntryMaybe<unknown>[]) => {
    const rows = index === undefined ? page : await rowsOf(store, index, page);
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
  for await (const { entries } of scan(store, run, prefix)) await add(entries);
  return amounts;
}

/** Returns the stored rows of index entries. */
async function rowsOf(
  store: ModelStore,
  index: CompiledIndex,
  entries: readonly KvEntryMaybe<unknown>[],
): Promise<(KvEntryMaybe<unknown> | undefined)[]> {
  const { model } = store;
  const keys = entries.map(({ value }) => primaryKeyOfEntry(model, index, value));
  const known = keys.flatMap((key) => (key === undefined ? [] : [rowKey(model, key)]));
  const rows = (await readStored(store, known)).values();
  return keys.map((key) => (key === undefined ? undefined : rows.next().value));
}

async function hasEntry(
  { store }: VerifyContext,
  index: CompiledIndex,
  parts: readonly KvKeyPart[],
): Promise<boolean> {
  const key = [index.place, ...parts];
  if (index.unique) return (await store.kv.get(key)).versionstamp !== null;
  return (await readEntriesAfter(store, key, null, 1)).length > 0;
}

function numberOf({ store }: VerifyContext, entry: KvEntryMaybe<unknown>): bigint {
  return systemValue(entry, counterShape, store.model.name)?.value ?? 0n;
}

async function settle(
  found: readonly Confirmed<Found>[],
  { verification }: VerifyContext,
): Promise<void> {
  const { counters } = verification.state;
  for (const { found: one } of found) {
    if (one === "unchecked") counters.unchecked++;
    else {
      counters.count++;
      verification.list("counter", one);
    }
  }
}

/** Drops all counters if one is wrong. The repair of an entry has already done so. */
async function mustRebuild({
  store,
  run,
  verification,
  repair,
  recount = false,
}: VerifyContext): Promise<boolean> {
  if (!repair) return false;
  const { state } = verification;
  if (state.recounts) return true;
  const { catalog } = store;
  await catalog.reload();
  const isDropping = dropsCounters(catalog.snapshot.entry);
  if (!isDropping && !recount && state.counters.count === 0) return false;
  if (!isDropping) await dropCounters(store, run);
  // After the counters are dropped, the catalog no longer shows that they have to be rebuilt.
  state.recounts = true;
  await verification.save();
  return true;
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
