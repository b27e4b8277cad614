import type { AtomicCheck } from "@keywright/core";
import { IndexKeyError } from "../../errors/row-errors.js";
import { canBeStored } from "../../model/keys/can-be-stored.js";
import { keyText } from "../../model/keys/key-text.js";
import { awaitAll } from "../../promises/await-all.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { Effects } from "../effects.js";
import { type Fence, findFence } from "./fences.js";
import type { RankAmount } from "./rank-amounts.js";
import { levels, longestKey, slotKey } from "./rank-keys.js";

/**
 * Finds the interval of each level that contains each changed entry. The commit adds to it with
 * `sum`, so it does not wait for others that add to the same interval. It checks that the interval
 * still contains the entry: see `docs/internals/ranks.md`.
 *
 * @throws {IndexKeyError} if the key of an entry is too long to be the boundary of an interval.
 */
export async function placeChanges(
  { kv, model, limits }: Pick<ReadView, "kv" | "model" | "limits">,
  changes: readonly RankAmount[],
  effects: Pick<Effects, "checks" | "writes">,
): Promise<void> {
  const checks = new Map<string, AtomicCheck>();
  const places = new Map<string, RankAmount>();
  for (const ranked of changes) {
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
  for (const ranked of changes) {
    const placed = fences.get(placeId(ranked)) ?? [];
    for (const [i, { boundary, check }] of placed.entries()) {
      checks.set(keyText(check.key), check);
      const key = slotKey(ranked, levels[i]!, boundary, ranked.slot);
      effects.writes.push({ type: "sum", key, by: ranked.by });
    }
  }
  effects.checks.push(...checks.values());
}

function placeId({ counter, entry }: RankAmount): string {
  return `${counter.prefix}\n${keyText(entry)}`;
}
