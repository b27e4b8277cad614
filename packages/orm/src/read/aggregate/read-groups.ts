import { compareKeys, type KvKey, type KvKeyPart, type KvListSelector } from "@keywright/core";
import { counterKey } from "../../derived/counters/counter-keys.js";
import {
  type CounterValue,
  counterValue,
  readCounterValues,
  withoutExpired,
} from "../../derived/counters/read-counters.js";
import { amountOfLimb, limbsOf, valueCount } from "../../model/aggregates/amount.js";
import type { Counter } from "../../model/aggregates/counter.js";
import { keyAfter } from "../../model/keys/key-parts.js";
import { keyText } from "../../model/keys/key-text.js";
import { awaitAll } from "../../state/context/await-all.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
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
    const readPage = async () => {
      // Most queries have one page, whose sums are read at the same time as the counts. A small page
      // waits for its counts, so that it reads no other sums.
      const ranges = after === undefined && limit === batchSize ? sumRanges : [];
      const options = { limit, reverse };
      const lists = [range, ...ranges].map((one) => list(view, one, meter, options));
      const [counts, ...ahead] = await awaitAll(lists);
      page = counts!;
      const [first, last] = reverse ? [page.at(-1), page[0]] : [page[0], page.at(-1)];
      if (first === undefined || last === undefined) return [];
      const ofSums: CounterValue[] = [];
      for (const [i, counter] of [...sums.values()].entries()) {
        const read = ahead[i];
        if (read !== undefined && read.length < limit) {
          ofSums.push(...read);
          continue;
        }
        const start = counterKey(counter, first.key.slice(prefixLength));
        const end = counterKey(counter, last.key.slice(prefixLength), afterLimbs);
        ofSums.push(...(await list(view, { start, end }, meter, {})));
      }
      return [...page, ...ofSums];
    };
    const counters = await withoutExpired(view, meter, (others) =>
      awaitAll([readPage(), readStored(view, others)]),
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

async function list(
  view: ReadView,
  selector: KvListSelector,
  meter: ReadMeter,
  options: { readonly limit?: number; readonly reverse?: boolean },
): Promise<CounterValue[]> {
  const found: CounterValue[] = [];
  const { batchSize } = view.limits;
  const entries = view.kv.list(selector, { ...options, batchSize });
  // Fewer promises than one for each counter.
  const batch = (await entries.nextBatch?.()) ?? [];
  meter.add(batch.length);
  for (const entry of batch) found.push(counterValue(view, entry));
  for await (const entry of entries) {
    meter.add(1);
    found.push(counterValue(view, entry));
  }
  return found;
}

/** Puts counters together to groups, in the order of their first counters. */
function groupsOf(plan: AggregatePlan, counters: readonly CounterValue[]): Group[] {
  const end = prefixLength + (plan.index?.parts.length ?? 0);
  const sums = [...plan.sums.values()];
  const groups = new Map<string, { parts: KvKeyPart[]; count: bigint; sums: Sum[] }>();
  for (const { key, value } of counters) {
    const parts = key.slice(prefixLength, end);
    const id = keyText(parts);
    let group = groups.get(id);
    if (group === undefined) {
      group = { parts, count: 0n, sums: sums.map(() => ({ sum: 0n, count: 0n })) };
      groups.set(id, group);
    }
    const prefix = key[prefixLength - 1];
    if (prefix === plan.count?.prefix) {
      group.count = BigInt.asIntN(64, value);
      continue;
    }
    const sum = group.sums[sums.findIndex((counter) => counter.prefix === prefix)]!;
    const limb = key[end] as number;
    if (limb === valueCount) sum.count = BigInt.asIntN(64, value);
    else sum.sum += amountOfLimb(limb, value);
  }
  const found = [...groups.values()];
  for (const group of found) {
    for (const [i, counter] of sums.entries()) {
      if (!counter.sum!.isOptional) group.sums[i]!.count = group.count;
    }
  }
  return plan.count === undefined ? found : found.filter(({ count }) => count !== 0n);
}
