import { describe, expect, it } from "vitest";
import type { AtomicWrite, StoredMutation } from "../src/engine/engine.js";
import { WriteGroup } from "../src/engine/level/write-group.js";
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
    copiesWrites: false,
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
    expect(group.mutations).toEqual([{ key: key("hint"), record: undefined }]);
  });
});
