import {
  compareKeys,
  type KvKey,
  type KvKeyPart,
  type KvListSelector,
  type MaybePromise,
} from "@keywright/core";
import { counterKey } from "../../derived/counters/counter-keys.js";
import {
  type CounterValue,
  counterValue,
  readCounterValues,
  withoutExpired,
} from "../../derived/counters/read-counters.js";
import { amountOfLimb, limbsOf, valueCount } from "../../model/aggregates/amount.js";
import type { Counter } from "../../model/aggregates/counter.js";
import { isSamePart, keyAfter } from "../../model/keys/key-parts.js";
import { awaitAll } from "../../promises/await-all.js";
import { allReady, whenReady } from "../../promises/when-ready.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { readPage } from "../../state/rows/read-page.js";
import { readStored } from "../../state/rows/read-rows.js";
import type { Segment } from "../plan/ranges/query-plan.js";
import type { AggregatePlan } from "./plan-aggregate.js";

/** The rows that have the same parts in an index. */
export interface Group {
  readonly parts: readonly KvKeyPart[];
  readonly count: bigint;
  /** One for each of the plan's sums, in their order. */
  readonly sums: readonly Sum[];
}

export interface Sum {
  sum: bigint;
  /** The number of rows that have a value. */
  count: bigint;
}

/** The number of key parts before those of a group. */
const prefixLength = 3;
/** Sorts after the positions of all limbs. */
const afterLimbs = 1000;

export interface ReadGroupsOptions {
  readonly reverse: boolean;
  /** How many groups are read first. Each further page has twice as many, up to a batch. */
  readonly pageSize: number;
}

/**
 * Yields the groups of a plan that have rows, some at a time, in key order or its reverse. A group
 * of which no counter is read may have no rows.
 */
export async function* readGroups(
  view: ReadView,
  plan: AggregatePlan,
  meter: ReadMeter,
  options: ReadGroupsOptions = { reverse: false, pageSize: view.limits.batchSize },
): AsyncGenerator<Group[]> {
  const { reverse } = options;
  const segments = reverse ? plan.segments.toReversed() : plan.segments;
  for (const segment of segments) {
    const { equals } = segment;
    if (equals.length < (plan.index?.parts.length ?? 0)) {
      yield* listGroups(view, plan, segment, options, meter);
      continue;
    }
    const keys = keysOf(plan, equals);
    if (keys.length === 0) {
      // Nothing but minima and maxima, which are read by the key of the group.
      yield [{ parts: equals, count: 0n, sums: [] }];
      continue;
    }
    const counters = await readCounterValues(view, keys, meter);
    yield groupsOf(plan, counters);
  }
}

function countersIn({ count, sums }: AggregatePlan): readonly Counter[] {
  return count === undefined ? [...sums.values()] : [count, ...sums.values()];
}

function keysOf(plan: AggregatePlan, parts: readonly KvKeyPart[]): KvKey[] {
  return countersIn(plan).flatMap((counter) =>
    counter.sum === undefined
      ? [counterKey(counter, parts)]
      : limbsOf(counter.sum).map((limb) => counterKey(counter, parts, limb)),
  );
}

/** Yields the groups of a range. Each page of groups is read with the sums of its groups. */
async function* listGroups(
  view: ReadView,
  plan: AggregatePlan,
  segment: Segment,
  { reverse, pageSize }: ReadGroupsOptions,
  meter: ReadMeter,
): AsyncGenerator<Group[]> {
  const { count, sums } = plan;
  if (count === undefined || segment.interval.isEmpty) return;
  const { batchSize } = view.limits;
  let limit = Math.min(pageSize, batchSize);
  const rangeOfAll = (counter: Counter) => rangeOf(view, counter, segment, undefined, reverse);
  const sumRanges = [...sums.values()].flatMap((counter) => rangeOfAll(counter) ?? []);
  for (let after: KvKey | undefined; ; ) {
    let page: CounterValue[] = [];
    const range = rangeOf(view, count, segment, after, reverse);
    if (range === undefined) return;
    const readCounters = async () => {
      // Most queries have one page. Its sums are read at the same time as its counts. For a small
      // page, the counts are read first, so that no sums of other groups are read.
      const ranges = after === undefined && limit === batchSize ? sumRanges : [];
      const reading = allReady(
        [range, ...ranges].map((one) => listPage(view, one, meter, { limit, reverse })),
      );
      const [counts, ...ahead] = reading instanceof Promise ? await reading : reading;
      page = counts!;
      const [first, last] = reverse ? [page.at(-1), page[0]] : [page[0], page.at(-1)];
      if (first === undefined || last === undefined) return [];
      let counters = page;
      for (const [i, counter] of [...sums.values()].entries()) {
        const read = ahead[i];
        if (read !== undefined && read.length < limit) {
          counters = counters.concat(read);
          continue;
        }
        const start = counterKey(counter, first.key.slice(prefixLength));
        const end = counterKey(counter, last.key.slice(prefixLength), afterLimbs);
        counters = counters.concat(await listWhole(view, { start, end }, meter, reverse));
      }
      return counters;
    };
    const counters = await withoutExpired(view, meter, (others) =>
      awaitAll([readCounters(), readStored(view, others)]),
    );
    yield groupsOf(plan, counters);
    if (page.length < limit) return;
    after = page.at(-1)?.key;
    limit = Math.min(limit * 2, batchSize);
  }
}

/** Returns undefined if no key is between the bounds. */
function rangeOf(
  { model }: ReadView,
  counter: Counter,
  { equals, interval }: Segment,
  after: KvKey | undefined,
  reverse: boolean,
): KvListSelector | undefined {
  const prefix = counterKey(counter, equals);
  const start = interval.start === undefined ? undefined : [...prefix, interval.start];
  const end = interval.end === undefined ? undefined : [...prefix, interval.end];
  const from = after !== undefined && !reverse ? keyAfter(after) : start;
  const to = after !== undefined && reverse ? after : end;
  if (from !== undefined && to !== undefined) {
    return compareKeys(from, to, model.keyOrder) < 0 ? { start: from, end: to } : undefined;
  }
  if (from !== undefined) return { prefix, start: from };
  return to === undefined ? { prefix } : { prefix, end: to };
}

/** Returns the first counters of a range. */
function listPage(
  view: ReadView,
  selector: KvListSelector,
  meter: ReadMeter,
  { limit, reverse }: { readonly limit: number; readonly reverse: boolean },
): MaybePromise<CounterValue[]> {
  const entries = readPage(view, selector, { limit, reverse, withValues: true });
  return whenReady(entries, (found) => {
    meter.add(found.length);
    return found.map((entry) => counterValue(view, entry));
  });
}

/** Returns all counters of a range. */
async function listWhole(
  view: ReadView,
  { start, end }: { readonly start: KvKey; readonly end: KvKey },
  meter: ReadMeter,
  reverse: boolean,
): Promise<CounterValue[]> {
  const limit = view.limits.batchSize;
  const found: CounterValue[] = [];
  let range = { start, end };
  for (;;) {
    const page = await listPage(view, range, meter, { limit, reverse });
    for (const counter of page) found.push(counter);
    if (page.length < limit) return found;
    const { key } = page.at(-1)!;
    range = reverse ? { start, end: key } : { start: keyAfter(key), end };
  }
}

/**
 * Puts counters together to groups.
 *
 * @param counters those of one kind after those of another, and each kind in the same order of the
 * groups. The counts come first if the plan has them, and then each is that of another group.
 */
function groupsOf(plan: AggregatePlan, counters: readonly CounterValue[]): Group[] {
  const end = prefixLength + (plan.index?.parts.length ?? 0);
  const sums = [...plan.sums.values()];
  const groups: { parts: KvKeyPart[]; count: bigint; sums: Sum[] }[] = [];
  const addGroup = (key: KvKey, count: bigint) => {
    const parts = key.slice(prefixLength, end);
    groups.push({ parts, count, sums: sums.map(() => ({ sum: 0n, count: 0n })) });
  };
  let prefix: KvKeyPart | undefined;
  let position = -1;
  /** The group of the last sum. That of the next one is the same, or comes after it. */
  let current = 0;
  for (const { key, value } of counters) {
    if (key[prefixLength - 1] !== prefix) {
      prefix = key[prefixLength - 1];
      position = sums.findIndex((counter) => counter.prefix === prefix);
      current = 0;
    }
    if (position < 0) {
      addGroup(key, BigInt.asIntN(64, value));
      continue;
    }
    // Without counts, all counters belong to one group.
    if (plan.count === undefined && groups.length === 0) addGroup(key, 0n);
    let place = current;
    while (place < groups.length && !hasParts(key, groups[place]!.parts)) place++;
    // A sum without a count has no rows.
    if (place === groups.length) continue;
    current = place;
    const sum = groups[place]!.sums[position]!;
    const limb = key[end] as number;
    if (limb === valueCount) sum.count = BigInt.asIntN(64, value);
    else sum.sum += amountOfLimb(limb, value);
  }
  for (const group of groups) {
    for (const [i, counter] of sums.entries()) {
      if (!counter.sum!.isOptional) group.sums[i]!.count = group.count;
    }
  }
  return plan.count === undefined ? groups : groups.filter(({ count }) => count !== 0n);
}

/** True if the key of a counter has the parts of a group. The last parts differ most. */
function hasParts(key: KvKey, parts: readonly KvKeyPart[]): boolean {
  for (let i = parts.length - 1; i >= 0; i--) {
    if (!isSamePart(key[prefixLength + i], parts[i])) return false;
  }
  return true;
}
