import type { KvKey, KvKeyPart } from "@keywright/core";
import type { Counter } from "../../../model/aggregates/counter.js";
import { type CompiledModel, systemPrefix } from "../../../model/compiled-model.js";
import { count, is, keyPart, listOf, text } from "../../../model/shape.js";
import type { CatalogEntry } from "../../../state/catalog/catalog-entry.js";
import type { CatalogSnapshot } from "../../../state/catalog/catalog-snapshot.js";
import type { SystemShape } from "../../../state/catalog/system-value.js";
import type { CounterAmount } from "../counter-amounts.js";
import { counterKey } from "../counter-keys.js";
import { maintainedCounters } from "../maintained-counters.js";

/**
 * A counter that includes a row: the number of its build (see `CatalogEntry.counterBuilds`), then
 * the parts of the counter's key after `["__keywright", "count"]`. For a sum, the amount that the
 * row adds is last, as a bigint. Otherwise it is 1.
 */
export type CountedIn = readonly [build: number, prefix: string, ...parts: KvKeyPart[]];

export function countedUntilPrefix(model: CompiledModel): KvKey {
  return [systemPrefix, "counted-until", model.prefix];
}

/**
 * Returns the key of the time until which counters include a row that expires, in milliseconds
 * since 1970. The commit that writes the row writes it too, but it does not expire. The time is not
 * later than that at which the row expires.
 */
export function countedUntilKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [...countedUntilPrefix(model), ...primaryKey];
}

export function countedRowsPrefix(model: CompiledModel): KvKey {
  return [systemPrefix, "counted-row", model.prefix];
}

/**
 * Returns the key of the counters that include a row that expires: a list of {@link CountedIn}. It
 * is written and deleted in the same commits as the time under {@link countedUntilKey}. It contains
 * this time, so that rows that have expired are found without a scan of all rows.
 */
export function countedRowKey(
  model: CompiledModel,
  until: number,
  primaryKey: readonly KvKeyPart[],
): KvKey {
  return [...countedRowsPrefix(model), until, ...primaryKey];
}

/** When counters no longer include a row that expires, in milliseconds since 1970. */
export const countedUntilShape: SystemShape<number> = {
  problemOf: count,
  remedy: "delete it, and run verify",
};

/** The counters that include a row: a list of a build, a prefix and key parts. */
export const countedRowShape: SystemShape<readonly CountedIn[]> = {
  problemOf: listOf(
    is((value) => {
      if (!Array.isArray(value)) return false;
      const [build, prefix, ...parts] = value as readonly unknown[];
      const isKey =
        text(prefix) === undefined && parts.every((part) => keyPart(part) === undefined);
      return count(build) === undefined && isKey;
    }),
  ),
  remedy: "delete it, and run verify",
};

/** Describes what a row adds to counters, as it is recorded for the row. */
export function countedIn(entry: CatalogEntry, amounts: readonly CounterAmount[]): CountedIn[] {
  return amounts.map(({ counter, key, by }) => {
    const [prefix, ...parts] = key.slice(2) as [string, ...KvKeyPart[]];
    const amount = counter.sum === undefined ? [] : [by];
    return [buildOf(entry, prefix), prefix, ...parts, ...amount];
  });
}

/**
 * Returns what a row still adds to counters, of those that a record lists. A counter that is not
 * maintained, or that was built again later, is left out.
 */
export function includingCounters(
  snapshot: CatalogSnapshot,
  recorded: readonly CountedIn[],
): CounterAmount[] {
  const places = placesIn(snapshot);
  return recorded.flatMap(([build, prefix, ...rest]) => {
    const found = places.find(({ counter, parts }) => {
      const length = counter.sum === undefined ? parts : parts + 2;
      return counter.prefix === prefix && rest.length === length;
    });
    if (found === undefined || build !== buildOf(snapshot.entry, prefix)) return [];
    const { counter, parts } = found;
    if (counter.sum === undefined) return { counter, key: counterKey(counter, rest), by: 1n };
    const [limb, by] = rest.slice(parts);
    if (typeof limb !== "number" || typeof by !== "bigint") return [];
    return { counter, key: counterKey(counter, rest.slice(0, parts), limb), by };
  });
}

/** A counter, and how many parts its key has after the prefix, without the limb of a sum. */
interface CounterPlace {
  readonly counter: Counter;
  readonly parts: number;
}

const known = new WeakMap<CatalogSnapshot, readonly CounterPlace[]>();

function placesIn(snapshot: CatalogSnapshot): readonly CounterPlace[] {
  const before = known.get(snapshot);
  if (before !== undefined) return before;
  const { complete, growing } = maintainedCounters(snapshot);
  const places = [complete, growing].flatMap((set) =>
    set === undefined
      ? []
      : [
          ...set.rows.map((counter) => ({ counter, parts: 0 })),
          ...[...set.indexes].flatMap(([index, ofIndex]) =>
            ofIndex.map((counter) => ({ counter, parts: index.parts.length })),
          ),
        ],
  );
  known.set(snapshot, places);
  return places;
}

function buildOf({ counterBuilds = {} }: CatalogEntry, prefix: string): number {
  return Object.hasOwn(counterBuilds, prefix) ? (counterBuilds[prefix] ?? 0) : 0;
}
