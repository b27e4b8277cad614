import { compareKeys, type KvKey, type KvKeyPart, type KvListSelector } from "@keywright/core";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { counterKey } from "../../indexes/counter-keys.js";
import { keyAfter } from "../../indexes/key-parts.js";
import { keyText } from "../../indexes/key-text.js";
import { amountOfLimb, limbsOf, valueCount } from "../../model/aggregates/amount.js";
import type { Counter } from "../../model/aggregates/counter.js";
import type { Segment } from "../plan/ranges/query-plan.js";
import type { AggregatePlan } from "./plan-aggregate.js";
import { readKeys, type StoredCounter, storedCounter, withoutExpired } from "./read-counters.js";

/** The rows that have the same parts in an index. */
export interface Group {
  readonly parts: readonly KvKeyPart[];
  /** The number of rows. */
  readonly count: bigint;
  /** The sums by their fields. */
  readonly sums: ReadonlyMap<string, Sum>;
}

export interface Sum {
  readonly sum: bigint;
  /** The number of rows that have a value. */
  readonly count: bigint;
}

/** The number of key parts before those of a group. */
const prefixLength = 3;
/** Sorts after the positions of all limbs. */
const afterLimbs = 1000;

/** Yields the groups of a plan that have rows, in key order or its reverse. */
export async function* readGroups(
  context: TableContext,
  plan: AggregatePlan,
  reverse: boolean,
  meter: ReadMeter,
): AsyncGenerator<Group> {
  const segments = reverse ? plan.segments.toReversed() : plan.segments;
  for (const segment of segments) {
    const { equals } = segment;
    if (equals.length < (plan.index?.parts.length ?? 0)) {
      yield* listGroups(context, plan, segment, reverse, meter);
      continue;
    }
    const keys = keysOf(plan, equals);
    const counters = await withoutExpired(context, meter, () => readKeys(context, keys, meter));
    yield* groupsOf(plan, counters);
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
  context: TableContext,
  plan: AggregatePlan,
  segment: Segment,
  reverse: boolean,
  meter: ReadMeter,
): AsyncGenerator<Group> {
  const { count, sums } = plan;
  if (count === undefined || segment.interval.isEmpty) return;
  const limit = context.limits.batchSize;
  for (let after: KvKey | undefined; ; ) {
    let page: StoredCounter[] = [];
    const range = rangeOf(context, count, segment, after, reverse);
    if (range === undefined) return;
    const counters = await withoutExpired(context, meter, async () => {
      page = await list(context, range, meter, { limit, reverse });
      const [first, last] = reverse ? [page.at(-1), page[0]] : [page[0], page.at(-1)];
      if (first === undefined || last === undefined) return [];
      const ofSums: StoredCounter[] = [];
      for (const counter of sums.values()) {
        const start = counterKey(counter, first.key.slice(prefixLength));
        const end = counterKey(counter, last.key.slice(prefixLength), afterLimbs);
        ofSums.push(...(await list(context, { start, end }, meter, {})));
      }
      return [...page, ...ofSums];
    });
    yield* groupsOf(plan, counters);
    if (page.length < limit) return;
    after = page.at(-1)?.key;
  }
}

/** Returns undefined if no key is between the bounds. */
function rangeOf(
  { model }: TableContext,
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
  context: TableContext,
  selector: KvListSelector,
  meter: ReadMeter,
  options: { readonly limit?: number; readonly reverse?: boolean },
): Promise<StoredCounter[]> {
  const found: StoredCounter[] = [];
  const { batchSize } = context.limits;
  for await (const entry of context.kv.list(selector, { ...options, batchSize })) {
    meter.add(1);
    found.push(storedCounter(context, entry));
  }
  return found;
}

/** Puts counters together to groups, in the order of their first counters. */
function* groupsOf(plan: AggregatePlan, counters: readonly StoredCounter[]): Generator<Group> {
  const length = plan.index?.parts.length ?? 0;
  const groups = new Map<string, { parts: readonly KvKeyPart[]; values: Map<string, bigint> }>();
  for (const { key, value } of counters) {
    const [prefix, ...rest] = key.slice(prefixLength - 1);
    const parts = rest.slice(0, length);
    const id = keyText(parts);
    let group = groups.get(id);
    if (group === undefined) {
      group = { parts, values: new Map() };
      groups.set(id, group);
    }
    group.values.set(valueName(String(prefix), rest[length] as number | undefined), value);
  }
  for (const { parts, values } of groups.values()) {
    const stored = ({ prefix }: Counter, limb?: number) =>
      values.get(valueName(prefix, limb)) ?? 0n;
    const count = plan.count === undefined ? undefined : BigInt.asIntN(64, stored(plan.count));
    if (count === 0n) continue;
    const sums = new Map<string, Sum>();
    for (const [field, counter] of plan.sums) {
      const limbs = limbsOf(counter.sum!);
      const sum = limbs
        .filter((limb) => limb !== valueCount)
        .reduce((total, limb) => total + amountOfLimb(limb, stored(counter, limb)), 0n);
      const withValue = counter.sum!.isOptional
        ? BigInt.asIntN(64, stored(counter, valueCount))
        : count;
      sums.set(field, { sum, count: withValue ?? 0n });
    }
    yield { parts, count: count ?? 0n, sums };
  }
}

function valueName(prefix: string, limb: number | undefined): string {
  return limb === undefined ? prefix : `${limb} ${prefix}`;
}
