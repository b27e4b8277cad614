import type { AtomicCheck, KvKey } from "@keywright/core";
import type { CounterChange, RankedPlace } from "../catalog/counter-changes.js";
import { awaitAll } from "../context/await-all.js";
import type { TableContext } from "../context/table-context.js";
import { IndexKeyError } from "../errors/row-errors.js";
import { canBeStored } from "../indexes/can-be-stored.js";
import { keyText } from "../indexes/key-text.js";
import { type Fence, findFence } from "./fences.js";
import { levels, longestKey, slotKey } from "./rank-keys.js";

/** What a commit checks and writes so that the intervals are right after it. */
export interface PlacedChanges {
  readonly checks: readonly AtomicCheck[];
  /** The keys to which the commit adds. The same key may occur several times. */
  readonly sums: readonly { readonly key: KvKey; readonly by: bigint }[];
}

/** Changes of the intervals that contain some entries. */
export type RankedChanges = readonly (CounterChange & { readonly ranked: RankedPlace })[];

/** Returns the changes of intervals among those of counters. */
export function rankedChanges(changes: readonly CounterChange[]): RankedChanges {
  return changes.filter((change): change is RankedChanges[number] => change.ranked !== undefined);
}

/**
 * Finds the interval of each level that contains each changed entry. The commit adds to it with
 * `sum`, so it does not wait for others that add to the same interval. It checks that the interval
 * still contains the entry: see `docs/internals/ranks.md`.
 *
 * @throws {IndexKeyError} if the key of an entry is too long to be the boundary of an interval.
 */
export async function placeChanges(
  { kv, model, limits }: Pick<TableContext, "kv" | "model" | "limits">,
  changes: RankedChanges,
): Promise<PlacedChanges> {
  const checks = new Map<string, AtomicCheck>();
  const places = new Map<string, RankedPlace>();
  for (const { ranked } of changes) {
    const table = { kv, counter: ranked.counter };
    const id = placeId(ranked);
    if (places.has(id)) continue;
    if (!canBeStored(longestKey(table, ranked.entry), limits.keyBytes)) {
      const { index = "" } = ranked.counter;
      const field = model.indexes.find(({ name }) => name === index)?.fields[0] ?? index;
      const problem = "length";
      throw new IndexKeyError(model.name, index, field, typeof ranked.entry[0], { problem });
    }
    places.set(id, ranked);
  }
  const found = await awaitAll(
    Array.from(places, async ([id, { counter, entry }]) => {
      const fencesOf = (level: number) => findFence({ kv, counter }, level, entry);
      return [id, await awaitAll(levels.map(fencesOf))] as const;
    }),
  );
  const fences = new Map<string, readonly Fence[]>(found);
  // The sums of one key are not added up. A change of an interval must change its versionstamp even
  // if its numbers stay the same: see `missingAmounts`.
  const sums: { readonly key: KvKey; readonly by: bigint }[] = [];
  for (const { ranked, by } of changes) {
    const placed = fences.get(placeId(ranked)) ?? [];
    for (const [i, { boundary, check }] of placed.entries()) {
      checks.set(keyText(check.key), check);
      sums.push({ key: slotKey(ranked, levels[i]!, boundary, ranked.slot), by });
    }
  }
  return { checks: [...checks.values()], sums };
}

function placeId({ counter, entry }: RankedPlace): string {
  return `${counter.prefix}\n${keyText(entry)}`;
}
