import { describe, expect, it } from "vitest";
import { contradictions, type History } from "../faults/check-history.mjs";
import { faults, runFault } from "../faults/run-fault.mjs";
import { hasEtcd } from "../server/has-etcd.js";

describe.skipIf(!hasEtcd)("three members with 16 writers stay strictly serializable", () => {
  for (const name of Object.keys(faults)) {
    // Each has a cluster of its own, and mostly waits for it.
    it.concurrent(`with a fault: ${name}`, async () => {
      const { commits, contradictions } = await runFault(name);
      expect(contradictions).toEqual([]);
      expect(commits).toBeGreaterThan(100);
    });
  }
});

describe("the check of a history", () => {
  const good: History = {
    writes: [
      { key: "r", value: "a", previous: null, stamp: "01", start: 0, end: 1 },
      { key: "r", value: "b", previous: "01", stamp: "03", start: 4, end: 5 },
      { key: "r", value: "c", previous: "03", stamp: undefined, start: 6, end: Infinity },
    ],
    reads: [
      { key: "r", value: null, stamp: null, start: 0, end: 0.5 },
      { key: "r", value: "a", stamp: "01", start: 2, end: 3 },
    ],
    increments: [
      { id: "i", stamp: "02", start: 2, end: 3 },
      { id: "j", stamp: undefined, start: 2, end: Infinity },
    ],
    final: {
      registers: [{ key: "r", value: "b", stamp: "03" }],
      counter: 1,
      markers: [{ id: "i", stamp: "02" }],
      log: [{ id: "i", stamp: "02" }],
    },
  };
  const [first, second, unknown] = good.writes as [W, W, W];
  const [, read] = good.reads as [R, R];

  it("accepts a good one, whether or not a commit of unknown outcome was applied", () => {
    expect(contradictions(good)).toEqual([]);
    const registers = [{ key: "r", value: "c", stamp: "04" }];
    expect(contradictions({ ...good, final: { ...good.final, registers } })).toEqual([]);
  });

  it("finds each kind of contradiction", () => {
    const { final } = good;
    const bad: Record<string, Partial<History>> = {
      "a lost write": { writes: [first, { ...second, value: "x" }] },
      "a version that was replaced twice": {
        writes: [...good.writes, { ...second, value: "d", stamp: "05", start: 6, end: 7 }],
      },
      "a version that nobody wrote": { writes: [first, { ...second, previous: "02" }] },
      "a commit before one that had ended": {
        writes: [
          { ...first, stamp: "04" },
          { ...second, previous: "04", stamp: "06" },
        ],
        final: { ...final, registers: [{ key: "r", value: "b", stamp: "06" }] },
      },
      "a stale read": { reads: [{ ...read, start: 8, end: 9 }] },
      "a read of an unknown value": { reads: [{ ...read, value: "x" }] },
      "a read from the future": { reads: [{ ...read, value: "b", stamp: "03" }] },
      "a read with another versionstamp": { reads: [{ ...read, stamp: "02" }] },
      "an increment that was made twice": { final: { ...final, counter: 2 } },
      "a key with another versionstamp": { final: { ...final, log: [{ id: "i", stamp: "03" }] } },
      "a lost increment": { final: { ...final, counter: 0, markers: [] } },
    };
    for (const [name, change] of Object.entries(bad)) {
      expect(contradictions({ ...good, ...change }), name).not.toEqual([]);
    }
    expect(unknown.stamp).toBeUndefined();
  });
});

type W = History["writes"][number];
type R = History["reads"][number];
