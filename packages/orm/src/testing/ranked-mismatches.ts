import { compareKeys, encodeKey, type Kv, type KvKey } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import type { AnyIndexDefinition } from "../model/indexes/index-definition.js";

type AnyRow = Readonly<Record<string, unknown>>;

/** An entry of a ranked index with its row. */
export interface RankedEntry {
  readonly key: KvKey;
  readonly row: AnyRow;
}

interface Interval {
  readonly boundary: KvKey;
  state: unknown;
  readonly numbers: Map<string, bigint>;
}

const levels = [1, 2, 3];
const first: KvKey = [];
const textOf = (key: KvKey) => Buffer.from(encodeKey(key)).toString("hex");

/**
 * Compares the intervals of a ranked index with its entries: what the intervals of each group hold
 * together, and that each boundary of a level is one of the level below.
 *
 * @param prefix the first part of the keys of the index.
 * @param entries the entries that it has to have.
 */
export async function rankedMismatches(
  kv: Kv,
  prefix: string,
  { sum = [] }: AnyIndexDefinition,
  entries: readonly RankedEntry[],
): Promise<string[]> {
  const sums = sum.map((one) => (typeof one === "string" ? { decimal: one, scale: 0 } : one));
  const names = sums.map(({ decimal, scale }) => (scale === 0 ? decimal : `${decimal}:${scale}`));
  const base = ["__keywright", "count", `${prefix} ranked(${names.join(", ")})`];
  const tails = entries.map(({ key, row }) => ({ tail: key.slice(1), row }));
  const problems: string[] = [];
  let below: ReadonlySet<string> | undefined;
  for (const level of levels) {
    const intervals = await intervalsOf(kv, [...base, level], tails[0]?.tail.length);
    const groups: Interval[][] = [];
    for (const interval of intervals) {
      if (interval.state === undefined) groups.push([interval]);
      else groups.at(-1)!.push(interval);
    }
    for (const [i, group] of groups.entries()) {
      const [from, to] = [group[0]!.boundary, groups[i + 1]?.[0]?.boundary];
      const inside = tails.filter(({ tail }) => {
        const isFrom = from.length === 0 || compareKeys(tail, from) >= 0;
        return isFrom && (to === undefined || compareKeys(tail, to) < 0);
      });
      const at = `level ${level}, ${JSON.stringify(from)}`;
      const count = total(group, (slot) => slot === "0");
      if (count !== BigInt(inside.length)) problems.push(`${at}: ${count} of ${inside.length}`);
      for (const [position, { decimal, scale }] of sums.entries()) {
        const expected = inside.reduce((all, { row }) => {
          const value = row[decimal];
          if (value === undefined || value === null) return all;
          if (typeof value === "bigint") return all + value;
          return all + BigInt(Math.round(Number(value) * 10 ** scale));
        }, 0n);
        let found = 0n;
        for (let limb = 0; limb < 4; limb++)
          found += total(group, (slot) => slot === `${position + 1} ${limb}`) << BigInt(32 * limb);
        if (found !== expected) problems.push(`${at}, ${decimal}: ${found} of ${expected}`);
      }
      if (below?.has(textOf(from)) === false) problems.push(`${at}: not on the level below`);
    }
    below = new Set(groups.map(([head]) => textOf(head!.boundary)));
  }
  return problems;
}

function total(group: readonly Interval[], isSlot: (slot: string) => boolean): bigint {
  let sum = 0n;
  for (const { numbers } of group)
    for (const [slot, value] of numbers) if (isSlot(slot)) sum += value;
  return BigInt.asIntN(64, sum);
}

async function intervalsOf(kv: Kv, base: KvKey, length = 0): Promise<Interval[]> {
  const intervals: Interval[] = [{ boundary: first, state: undefined, numbers: new Map() }];
  for await (const { key, value } of kv.list<unknown>({ prefix: base })) {
    const slotAt = key[base.length] === 0 ? base.length + 1 : base.length + 1 + length;
    const boundary = key.slice(base.length + 1, slotAt);
    let interval = intervals.at(-1)!;
    if (textOf(interval.boundary) !== textOf(boundary)) {
      interval = { boundary, state: undefined, numbers: new Map() };
      intervals.push(interval);
    }
    const slot = key.slice(slotAt);
    if (typeof value === "string") interval.state = value;
    else interval.numbers.set(slot.join(" "), (value as { readonly value: bigint }).value);
  }
  return intervals;
}
