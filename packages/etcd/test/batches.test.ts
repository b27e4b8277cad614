import type { AtomicWrite } from "@keywright/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RequestOp, ResponseOp } from "../src/client/etcd-messages.js";
import type { Component } from "../src/commit/component.js";
import { nestedCost, nestOperations } from "../src/commit/nested-operations.js";
import { PendingWrite } from "../src/commit/pending-write.js";
import { takeBatch } from "../src/commit/take-batch.js";
import { hasRevision } from "../src/commit/transaction.js";
import {
  groupedCost,
  groupTransactions,
  ungroupResponses,
} from "../src/commit/transaction-groups.js";

const limits = { maxTxnOps: 128, bytes: 1024 * 1024 };

const keys = fc.integer({ min: 0, max: 12 }).map((n) => Uint8Array.of(2, n));
const values = fc.integer({ min: 0, max: 200_000 }).map((size) => new Uint8Array(size));
const mutations: fc.Arbitrary<AtomicWrite["mutations"][number]> = fc.oneof(
  fc.record({ type: fc.constant("set" as const), key: keys, value: values }),
  fc.record({ type: fc.constant("delete" as const), key: keys }),
  fc.record({ type: fc.constant("sum" as const), key: keys, operand: fc.constant(1n) }),
);
const writes: fc.Arbitrary<AtomicWrite> = fc.record({
  checks: fc.array(fc.record({ key: keys, versionstamp: fc.constant(null) }), { maxLength: 3 }),
  mutations: fc.array(mutations, { maxLength: 4 }),
  sync: fc.constant(true),
});

const pendingOf = (list: readonly AtomicWrite[]) =>
  list.map((write, index) => new PendingWrite(write, index));

describe("a batch", () => {
  it("has the first writes, each once, and no component writes a key of another one", () => {
    fc.assert(
      fc.property(fc.array(writes, { minLength: 1, maxLength: 60 }), (list) => {
        const components = takeBatch(pendingOf(list), limits);
        const indices = components
          .flatMap((component) => component.writes.map(({ index }) => index))
          .sort((a, b) => a - b);
        expect(indices.length).toBeGreaterThan(0);
        expect(indices).toEqual(indices.map((_, index) => index));
        for (const [index, component] of components.entries()) {
          expect(component.writes).toEqual([...component.writes].sort((a, b) => a.index - b.index));
          for (const other of components.slice(index + 1)) {
            expect(overlap(component, other)).toEqual([]);
          }
        }
      }),
    );
  });

  it("stays within the limits of etcd if it has more than one write", () => {
    fc.assert(
      fc.property(fc.array(writes, { minLength: 2, maxLength: 200 }), (list) => {
        const components = takeBatch(pendingOf(list), limits);
        const taken = components.flatMap((component) => component.writes);
        if (taken.length === 1) return;
        const cost = Math.max(...components.map((component) => component.cost));
        const used = 2 + groupedCost(components.length) + cost;
        expect(used).toBeLessThanOrEqual(limits.maxTxnOps);
        const bytes = taken.reduce((sum, write) => sum + write.bytes, 0);
        expect(bytes).toBeLessThanOrEqual(limits.bytes);
      }),
    );
  });

  it("has thousands of small independent commits", () => {
    const list = Array.from({ length: 10_000 }, (_, n) => ({
      checks: [{ key: Uint8Array.of(2, n >> 8, n & 255), versionstamp: null }],
      mutations: [
        { type: "set" as const, key: Uint8Array.of(2, n >> 8, n & 255), value: Uint8Array.of(n) },
      ],
      sync: true,
    }));
    expect(takeBatch(pendingOf(list), limits).length).toBeGreaterThan(3000);
  });

  it("reads the state first only if etcd cannot decide the outcome by itself", () => {
    const needsState = (...list: Partial<AtomicWrite>[]) =>
      takeBatch(
        pendingOf(list.map((each) => ({ checks: [], mutations: [], sync: true, ...each }))),
        limits,
      ).map((component) => component.needsState);
    const key = Uint8Array.of(2, 1);
    const set = { type: "set" as const, key, value: key };
    const check = { key, versionstamp: null };
    expect(needsState({ checks: [check], mutations: [set] })).toEqual([false]);
    expect(needsState({ mutations: [set] }, { mutations: [set] })).toEqual([false]);
    expect(needsState({ checks: [check] }, { checks: [check] })).toEqual([false, false]);
    expect(needsState({ checks: [check] }, { mutations: [set] })).toEqual([true]);
    expect(needsState({ mutations: [{ type: "sum", key, operand: 1n }] })).toEqual([true]);
    expect(needsState({ checks: Array.from({ length: 11 }, () => check) })).toEqual([true]);
  });
});

describe("range checks", () => {
  const range = { start: Uint8Array.of(2, 4), end: Uint8Array.of(2, 6) };
  const set = (n: number, endsInVersionstamp = false): Partial<AtomicWrite> => ({
    mutations: [
      { type: "set", key: Uint8Array.of(2, n), value: Uint8Array.of(0), endsInVersionstamp },
    ],
  });
  const checked = { rangeChecks: [{ range, versionstamp: "0".repeat(20) }] };
  const sizes = (...list: Partial<AtomicWrite>[]) =>
    takeBatch(
      pendingOf(list.map((each) => ({ checks: [], mutations: [], sync: true, ...each }))),
      limits,
    ).map(({ writes }) => writes.length);

  it("join the writes that change a key of their range, in any order, and no others", () => {
    for (const inside of [set(4), set(5), set(5, true)]) {
      expect(sizes(inside, { ...checked, ...set(9) })).toEqual([2]);
      expect(sizes({ ...checked, ...set(9) }, inside)).toEqual([2]);
    }
    for (const outside of [set(3), set(6), set(6, true)]) {
      expect(sizes(outside, { ...checked, ...set(9) })).toEqual([1, 1]);
      expect(sizes({ ...checked, ...set(9) }, outside)).toEqual([1, 1]);
    }
    expect(sizes(checked, checked)).toEqual([1, 1]);
    expect(sizes(set(4), set(5), { ...checked, ...set(9) }, set(9))).toEqual([4]);
  });

  it("take two comparisons of each transaction, however many there are", () => {
    const many = {
      ...checked,
      rangeChecks: Array.from({ length: 99 }, () => checked.rangeChecks[0]!),
    };
    for (const write of [checked, many]) {
      const [component] = takeBatch(
        pendingOf([{ checks: [], mutations: [], sync: true, ...write }]),
        limits,
      );
      expect(component!.cost).toBe(2);
      expect(component!.needsState || component!.needsReservation).toBe(false);
    }
  });
});

describe("the transactions of a batch", () => {
  it("keep their order in groups, take what their cost says, and so do their responses", () => {
    for (let count = 0; count <= 4000; count = count < 100 ? count + 1 : count + 37) {
      const transactions = Array.from({ length: count }, (_, n) => ({
        requestTxn: { compare: [hasRevision(Buffer.of(), n)] },
      }));
      const groups = groupTransactions(transactions);
      const members = groups.map(({ requestTxn }) => requestTxn.success ?? []);
      const widest = Math.max(0, ...members.map(({ length }) => length));
      expect(groups.length + widest).toBeLessThanOrEqual(groupedCost(count));
      const isFlat = widest === 0;
      expect(isFlat ? groups : members.flat()).toEqual(transactions);
      const answer = (n: number, responses: ResponseOp[] = []): ResponseOp => ({
        responseTxn: { header: { revision: n }, succeeded: true, responses },
      });
      const answers = transactions.map((_, n) => answer(n));
      const size = members[0]?.length ?? 0;
      const grouped = groups.map((_, i) => answer(0, answers.slice(i * size, (i + 1) * size)));
      expect(ungroupResponses(isFlat ? answers : grouped, count)).toEqual(answers);
    }
  });
});

describe("nested operations", () => {
  const operations = (count: number): RequestOp[] =>
    Array.from({ length: count }, (_, n) => ({ requestDeleteRange: { key: Uint8Array.of(n) } }));

  it("keep their order, and take what their cost says", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3000 }),
        fc.integer({ min: 0, max: 100 }),
        (count, compares) => {
          const list = operations(count);
          const nested = nestOperations(list);
          expect(flatten(nested)).toEqual(list);
          const used = Math.max(compares, nested.length) + longestPath(nested);
          expect(used).toBeLessThanOrEqual(nestedCost(compares, count));
        },
      ),
    );
  });

  it("fit into one request with the maximum of checks and mutations", () => {
    // Each entry that expires has a hint besides.
    const most = 2 * 1000;
    for (let count = 0; count <= most; count++) {
      expect(nestedCost(100, count) + 3).toBeLessThanOrEqual(limits.maxTxnOps);
    }
  });

  function flatten(list: readonly RequestOp[]): RequestOp[] {
    return list.flatMap((each) =>
      "requestTxn" in each ? flatten(each.requestTxn.success ?? []) : [each],
    );
  }

  /** The most operations below the given ones on a path to one of them. */
  function longestPath(list: readonly RequestOp[]): number {
    const below = list.map((each) => {
      if (!("requestTxn" in each)) return 0;
      const success = each.requestTxn.success ?? [];
      return success.length + longestPath(success);
    });
    return Math.max(0, ...below);
  }
});

/** Returns the keys that one of the components writes and the other one reads or writes. */
function overlap(a: Component, b: Component): string[] {
  const keysOf = (component: Component, kind: "read" | "written") =>
    component.writes.flatMap((write) => write[kind]);
  const used = (component: Component) =>
    new Set([...keysOf(component, "read"), ...keysOf(component, "written")]);
  const usedByB = used(b);
  const usedByA = used(a);
  return [
    ...keysOf(a, "written").filter((key) => usedByB.has(key)),
    ...keysOf(b, "written").filter((key) => usedByA.has(key)),
  ];
}
