import { type AtomicOperation, openKv } from "@keywright/core";
import { expect, it, vi } from "vitest";
import { RecordedOperation, SharedCommit } from "../src/write/many/shared-commit.js";

const recorded = () => new RecordedOperation(async () => ({ ok: false }));
const absent = (id: string) => ({ key: ["a", id], versionstamp: null });

it("takes what neither checks nor writes what others before it write", () => {
  const commit = new SharedCommit({ checks: 10, mutations: 10 });
  expect(commit.add(recorded().check(absent("1")).set(["a", "1"], 1))).toBe(true);
  expect(commit.add(recorded().check(absent("1")).set(["a", "2"], 1))).toBe(false);
  expect(commit.add(recorded().delete(["a", "1"]))).toBe(false);
  expect(commit.add(recorded().check(absent("2")).set(["a", "2"], 1))).toBe(true);
  const check = vi.fn();
  commit.addTo({ check, set: vi.fn() } as unknown as AtomicOperation);
  expect(check).toHaveBeenCalledWith(absent("1"), absent("2"));
});

it("takes one check of a key for all, and two that contradict each other not at all", () => {
  const commit = new SharedCommit({ checks: 2, mutations: 10 });
  const versionstamp = "0".repeat(20);
  expect(commit.add(recorded().check(absent("1")))).toBe(true);
  expect(commit.add(recorded().check(absent("1"), absent("2")))).toBe(true);
  expect(commit.add(recorded().check({ key: ["a", "1"], versionstamp }))).toBe(false);
  expect(commit.add(recorded().check(absent("3")))).toBe(false);
});

it("takes a first operation however large, and no more changes than the database does", async () => {
  const commit = new SharedCommit({ checks: 1, mutations: 2 });
  const sums = () => recorded().sum(["n"], 2n).sum(["m"], 1n);
  expect(commit.add(sums().sum(["n"], 1n))).toBe(true);
  expect(commit.add(recorded().sum(["n"], 2n))).toBe(false);
  const kv = await openKv();
  try {
    const both = new SharedCommit({ checks: 10, mutations: 10 });
    expect(both.add(sums()) && both.add(sums())).toBe(true);
    expect((await both.addTo(kv.atomic()).commit()).ok).toBe(true);
    expect((await kv.get<{ value: bigint }>(["n"])).value?.value).toBe(4n);
  } finally {
    await kv.close();
  }
});
