import { beforeEach, describe, expect, it, vi } from "vitest";
import { RecentCommits } from "../src/engine/commit/recent-commits.js";
import { CheckedVersions, WriteGroup } from "../src/engine/commit/write-group.js";
import type { AtomicWrite, StoredMutation } from "../src/engine/engine.js";
import { keptRecordOf as recordOf } from "../src/engine/level/record.js";
import { encodeKey } from "../src/keys/encode-key.js";

const now = 1_000_000;
const key = (name: string) => encodeKey([name]);
const value = Uint8Array.of(1, 0xc0);

function write(...mutations: StoredMutation[]): AtomicWrite {
  return { checks: [], mutations, sync: false };
}

function groupOn(stored: Record<string, number | undefined>): WriteGroup {
  const names = new Map(Object.keys(stored).map((name) => [String(key(name)), name]));
  return new WriteGroup({
    sequence: 1,
    now,
    recordOf,
    copiesWrites: false,
    versions: new CheckedVersions(),
    recent: new RecentCommits("0".repeat(20)),
    read: (wanted) => {
      const name = names.get(String(wanted));
      if (name === undefined) return undefined;
      return { key: wanted, value, versionstamp: "0".repeat(20), expireAt: stored[name] };
    },
  });
}

describe("a group of writes", () => {
  it("keeps nothing of a write that fails midway, whatever it fails of", () => {
    const group = groupOn({});
    // More bytes than there is memory for.
    const endless = { length: 2 ** 53 } as Uint8Array;
    const failing = write(
      { type: "set", key: key("a"), value },
      { type: "set", key: key("a"), value: Uint8Array.of(2, 0xc0) },
      { type: "set", key: key("b"), value: endless },
    );
    expect(group.apply(failing)).toBeInstanceOf(RangeError);
    expect(group.mutations).toEqual([]);
    const absent = { key: key("a"), versionstamp: null };
    const next = { ...write({ type: "set", key: key("a"), value }), checks: [absent] };
    expect(group.apply(next)).toBe("00000000000000010000");
  });

  const dueAt = now + 100;
  it.each<[string, number | undefined, { entry: boolean; hint: boolean }]>([
    ["has expired", now, { entry: true, hint: true }],
    [
      "expires by the hint's time, as the clock was set back",
      now + 50,
      { entry: false, hint: false },
    ],
    ["was set again and expires later", dueAt + 1, { entry: false, hint: true }],
    ["was set again and stays", undefined, { entry: false, hint: true }],
  ])("that sweeps an entry which %s removes of entry and hint %s", (_name, expireAt, removed) => {
    const group = groupOn({ a: expireAt });
    const hint = { key: key("hint"), dueAt };
    group.apply(write({ type: "deleteExpired", key: key("a"), hint }));
    const has = (name: string) =>
      group.mutations.some((each) => String(each.key) === String(key(name)));
    expect({ entry: has("a"), hint: has("hint") }).toEqual(removed);
  });

  it("that sweeps an entry which is gone removes its hint", () => {
    const group = groupOn({});
    group.apply(write({ type: "deleteExpired", key: key("a"), hint: { key: key("hint"), dueAt } }));
    expect(group.mutations).toMatchObject([{ key: key("hint"), record: undefined }]);
  });
});

describe("what checks have read", () => {
  const stored = "0".repeat(20);
  const read = vi.fn((wanted: Uint8Array) => ({
    key: wanted,
    value,
    versionstamp: stored,
    expireAt: now + 10,
  }));
  let versions: CheckedVersions;
  let recent: RecentCommits;
  const nextGroup = (at = now) =>
    new WriteGroup({ sequence: 1, now: at, recordOf, copiesWrites: false, versions, recent, read });
  const checking = (versionstamp: string | null, ...mutations: StoredMutation[]) => ({
    ...write(...mutations),
    checks: [{ key: key("a"), versionstamp }],
  });

  beforeEach(() => {
    read.mockClear();
    versions = new CheckedVersions();
    recent = new RecentCommits(stored);
  });

  it("is not read again by the groups after it", () => {
    for (let i = 0; i < 3; i++) expect(nextGroup().apply(checking(stored))).not.toBeNull();
    expect(nextGroup().apply(checking(null))).toBeNull();
    expect(read).toHaveBeenCalledTimes(1);
  });

  it("is over when the entry expires", () => {
    nextGroup().apply(checking(stored));
    expect(nextGroup(now + 10).apply(checking(stored))).toBeNull();
    expect(nextGroup(now + 10).apply(checking(null))).not.toBeNull();
  });

  it.each<[string, StoredMutation]>([
    ["set", { type: "set", key: key("a"), value }],
    ["deleted", { type: "delete", key: key("a") }],
    ["swept", { type: "deleteExpired", key: key("a") }],
  ])("is forgotten when the entry is %s", (_name, mutation) => {
    const at = mutation.type === "deleteExpired" ? now + 10 : now;
    nextGroup().apply(checking(stored));
    nextGroup(at).apply(write(mutation));
    nextGroup().apply(checking(stored));
    expect(read.mock.calls.filter(([wanted]) => String(wanted) === String(key("a")))).toHaveLength(
      mutation.type === "deleteExpired" ? 3 : 2,
    );
  });

  it("is that of the same group where a write before has changed the entry", () => {
    nextGroup().apply(checking(stored));
    const group = nextGroup();
    const changed = group.apply(checking(stored, { type: "delete", key: key("a") }));
    expect(changed).not.toBeNull();
    expect(group.apply(checking(stored))).toBeNull();
    expect(group.apply(checking(null))).not.toBeNull();
  });

  it("is of the last entries, a thousand or so at most", () => {
    const names = Array.from({ length: 3000 }, (_, i) => `name ${i}`);
    for (const [i, name] of names.entries()) {
      versions.add(name, { versionstamp: stored, expireAt: undefined });
      if (i % 700 !== 0) continue;
      const kept = names.slice(0, i + 1).filter((each) => versions.get(each) !== undefined);
      expect(kept.length).toBeGreaterThan(0);
      expect(kept.length).toBeLessThanOrEqual(1024);
      expect(kept).toEqual(names.slice(i + 1 - kept.length, i + 1));
    }
  });
});
