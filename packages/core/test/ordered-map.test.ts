import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OrderedMap, type OrderedState } from "../src/engine/memory/ordered-map.js";

type Change = { readonly key: string; readonly value: number | undefined };

// Few keys, so that they are found again, and enough of them for a tree of three levels.
const key = fc.integer({ min: 0, max: 9999 }).map((number) => `key ${number}`);
const change: fc.Arbitrary<Change> = fc.record({
  key,
  value: fc.option(fc.integer(), { nil: undefined }),
});

/** Runs of keys that are set or deleted in order, as an index or a queue does it. */
const run: fc.Arbitrary<Change[]> = fc
  .record({ from: fc.integer({ min: 0, max: 9999 }), isSet: fc.boolean(), down: fc.boolean() })
  .map(({ from, isSet, down }) => {
    const numbers = Array.from({ length: 700 }, (_, i) => (down ? from - i : from + i));
    return numbers.map((number) => ({
      key: `key ${number}`,
      value: isSet ? number : undefined,
    }));
  });

const batches = fc.array(fc.oneof(run, fc.array(change, { maxLength: 300 })), { maxLength: 25 });

function apply(map: OrderedMap<number>, model: Map<string, number>, changes: Change[]): void {
  for (const { key: changed, value } of changes) {
    if (value === undefined) {
      map.delete(changed);
      model.delete(changed);
    } else {
      map.set(changed, value);
      model.set(changed, value);
    }
  }
}

function valuesOf(
  state: OrderedState<number>,
  { start = "", end = "z", reverse = false, limit = Number.POSITIVE_INFINITY } = {},
): number[] {
  const values: number[] = [];
  state.visit({ start, end, reverse }, (value) => {
    values.push(value);
    return values.length < limit;
  });
  return values;
}

function sorted(model: ReadonlyMap<string, number>): [string, number][] {
  return [...model].sort(([a], [b]) => (a < b ? -1 : 1));
}

describe("an ordered map", () => {
  it("has the entries of a Map in the order of their keys", () => {
    fc.assert(
      fc.property(batches, key, key, fc.integer({ min: 1, max: 200 }), (all, a, b, limit) => {
        const map = new OrderedMap<number>();
        const model = new Map<string, number>();
        for (const changes of all) apply(map, model, changes);
        const entries = sorted(model);
        expect(valuesOf(map)).toEqual(entries.map(([, value]) => value));
        for (const [each, value] of entries) expect(map.get(each)).toBe(value);
        const [start, end] = a < b ? [a, b] : [b, a];
        const within = entries.filter(([each]) => each >= start && each < end);
        const values = within.map(([, value]) => value);
        expect(valuesOf(map, { start, end, limit })).toEqual(values.slice(0, limit));
        const backwards = valuesOf(map, { start, end, limit, reverse: true });
        expect(backwards).toEqual(values.reverse().slice(0, limit));
      }),
      { numRuns: 60 },
    );
  });

  it("has states that later changes leave as they are", () => {
    fc.assert(
      fc.property(batches, (all) => {
        const map = new OrderedMap<number>();
        const model = new Map<string, number>();
        const states: { state: OrderedState<number>; entries: [string, number][] }[] = [];
        for (const changes of all) {
          apply(map, model, changes);
          states.push({ state: map.state(), entries: sorted(model) });
        }
        for (const { state, entries } of states) {
          expect(valuesOf(state)).toEqual(entries.map(([, value]) => value));
          for (const [each, value] of entries.slice(0, 50)) expect(state.get(each)).toBe(value);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("is empty after the last entry was deleted, and can be filled again", () => {
    const map = new OrderedMap<number>();
    const model = new Map<string, number>();
    const numbers = Array.from({ length: 20_000 }, (_, i) => i);
    for (let round = 0; round < 2; round++) {
      apply(
        map,
        model,
        numbers.map((value) => ({ key: `key ${value}`, value })),
      );
      expect(valuesOf(map)).toHaveLength(numbers.length);
      apply(
        map,
        model,
        numbers.map((value) => ({ key: `key ${value}`, value: undefined })),
      );
      expect(valuesOf(map)).toEqual([]);
    }
  });
});
