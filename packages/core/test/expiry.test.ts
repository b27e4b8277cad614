import { MemoryLevel } from "memory-level";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StoredSet } from "../src/engine/engine.js";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import { encodeKey } from "../src/keys/encode-key.js";
import { decodeHintKey, expiryHint } from "../src/kv/expiry/expiry-hint.js";
import { openKv } from "../src/kv/open-kv.js";

const minute = 60_000;
const day = 24 * 60 * minute;
const start = Date.UTC(2026, 0, 1);

type Level = MemoryLevel<Uint8Array, Uint8Array>;

function openLevel(): Level {
  return new MemoryLevel({ keyEncoding: "view", valueEncoding: "view", storeEncoding: "view" });
}

const handedIn = (level: Level) => level as unknown as LevelDatabase;

/** How many entries of its users' and how many hints stand in a database. */
async function count(level: Level): Promise<{ entries: number; hints: number }> {
  const keys = await level.keys().all();
  return {
    entries: keys.filter((key) => key[0] !== 0 && key[0] !== 0xff).length,
    hints: keys.filter((key) => key[0] === 0 && key[1] === 3).length,
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets what was begun in the background come to its end. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
}

async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
  await settled();
}

describe("the hint of an entry that expires", () => {
  const key = encodeKey(["session", 1]);
  const hintOf = (life: number): { dueAt: number; key: Uint8Array } => {
    const set: StoredSet = { type: "set", key, value: key, expireAt: start + life };
    return decodeHintKey(expiryHint(set, start).key);
  };

  it("is due when the entry has expired, and a sixteenth of its life later at the most", () => {
    for (const life of [1, 2, 15, 16, 17, 999, 1000, 12_345, minute, day, 365 * day]) {
      const { dueAt, key: hinted } = hintOf(life);
      expect(hinted).toEqual(key);
      expect(dueAt).toBeGreaterThanOrEqual(start + life);
      expect(dueAt).toBeLessThanOrEqual(start + life + Math.max(1, life / 16));
    }
  });

  it("is one of few, however often the key is set again", () => {
    const hints = new Set<number>();
    for (let n = 0; n < 10_000; n++) {
      const now = start + n * 1000;
      const set: StoredSet = { type: "set", key, value: key, expireAt: now + day };
      hints.add(decodeHintKey(expiryHint(set, now).key).dueAt);
    }
    // Ten thousand settings within three hours, of a day's life each.
    expect(hints.size).toBeLessThanOrEqual(4);
  });

  it("has a key that is frozen", () => {
    const set: StoredSet = { type: "set", key: encodeKey(["a"]), value: key, expireAt: 1_000_064 };
    // 1,000,064 ms, rounded up to a multiple of 4.
    expect(Buffer.from(expiryHint(set, 1_000_000).key).toString("hex")).toBe(
      "000300000000000f4280026100",
    );
  });
});

describe("an entry that expires", () => {
  it("is gone at its time, for every kind of read, before its space is taken back", async () => {
    const level = openLevel();
    const kv = await openKv(handedIn(level));
    await kv.set(["a"], 1, { expireIn: 1000 });
    await kv.set(["b"], 2);
    const entry = await kv.get(["a"]);
    expect(entry).toMatchObject({ value: 1, expireAt: start + 1000 });
    vi.setSystemTime(start + 999);
    expect((await kv.get(["a"])).value).toBe(1);
    vi.setSystemTime(start + 1000);
    expect(await kv.get(["a"])).toEqual({ key: ["a"], value: null, versionstamp: null });
    expect((await kv.getMany([["a"], ["b"]])).map((each) => each.value)).toEqual([null, 2]);
    const listed = [];
    for await (const each of kv.list({ prefix: [] }, { batchSize: 1 })) listed.push(each.value);
    expect(listed).toEqual([2]);
    expect((await kv.atomic().check(entry).set(["c"], 3).commit()).ok).toBe(false);
    const absent = { key: ["a"], versionstamp: null };
    expect((await kv.atomic().check(absent).set(["c"], 3).commit()).ok).toBe(true);
    expect((await count(level)).entries).toBe(3);
    await kv.close();
  });

  it("is not listed where it expires between being read and being asked for", async () => {
    for (const compat of [undefined, "deno"] as const) {
      const kv = await openKv(":memory:", { compat });
      for (let n = 0; n < 6; n++) await kv.set([n], n, n % 2 === 1 ? { expireIn: 1000 } : {});
      const iterator = kv.list<number>({ prefix: [] }, { limit: 4 });
      expect((await iterator.next()).value?.value).toBe(0);
      vi.setSystemTime(Date.now() + 1000);
      const rest = [];
      for await (const { value } of iterator) rest.push(value);
      // The limit counts what is returned.
      expect(rest).toEqual([2, 4]);
      await kv.close();
    }
  });

  it("gives back its space, and that of its hint, while nobody asks for it", async () => {
    const level = openLevel();
    const kv = await openKv(handedIn(level));
    const atomic = kv.atomic();
    for (let n = 0; n < 1200; n++) atomic.set(["n", n], n, { expireIn: minute });
    await atomic.set(["stays"], 1).set(["later"], 2, { expireIn: day }).commit();
    await pass(minute - 1);
    expect(await count(level)).toEqual({ entries: 1202, hints: 1201 });
    await pass(minute / 16 + 1);
    expect(await count(level)).toEqual({ entries: 2, hints: 1 });
    await pass(day + day / 16);
    expect(await count(level)).toEqual({ entries: 1, hints: 0 });
    await kv.close();
  });

  it("starts anew where it is set again, and stays where it is set without", async () => {
    const level = openLevel();
    const kv = await openKv(handedIn(level));
    for (const key of ["again", "stays", "summed", "deleted"]) {
      await kv.set([key], 1, { expireIn: minute });
    }
    await pass(minute / 2);
    await kv.set(["again"], 2, { expireIn: minute });
    await kv.set(["stays"], 2);
    await kv.delete(["summed"]);
    await kv.atomic().sum(["summed"], 2n).commit();
    await kv.delete(["deleted"]);
    await pass(minute * 0.6);
    const values = async () =>
      (await kv.getMany([["again"], ["stays"], ["summed"], ["deleted"]])).map((each) =>
        each.versionstamp === null ? null : String(each.value),
      );
    expect(await values()).toEqual(["2", "2", "2", null]);
    await pass(day);
    expect(await values()).toEqual([null, "2", "2", null]);
    expect(await count(level)).toEqual({ entries: 2, hints: 0 });
    await kv.close();
  });

  it("expires after reopening, and is swept one second later", async () => {
    const level = openLevel();
    const first = await openKv(handedIn(level));
    await first.set(["soon"], 1, { expireIn: minute });
    await first.set(["meanwhile"], 1, { expireIn: minute / 2 });
    await first.close();
    await pass(minute * 0.7);
    const second = await openKv(handedIn(level));
    expect((await second.get(["soon"])).value).toBe(1);
    expect((await second.get(["meanwhile"])).value).toBe(null);
    await pass(999);
    expect((await count(level)).entries).toBe(2);
    await pass(1);
    expect((await count(level)).entries).toBe(1);
    await pass(minute);
    expect(await count(level)).toEqual({ entries: 0, hints: 0 });
    await second.close();
  });

  it("under a key that ends in the versionstamp is swept too", async () => {
    const level = openLevel();
    const kv = await openKv(handedIn(level));
    const { versionstamp } = await kv.set(["log", kv.commitVersionstamp()], 1, { expireIn: 1000 });
    expect((await kv.get(["log", versionstamp])).value).toBe(1);
    await pass(minute);
    expect(await count(level)).toEqual({ entries: 0, hints: 0 });
    await kv.close();
  });

  it("is not swept by those who only read", async () => {
    const level = openLevel();
    const writer = await openKv(handedIn(level));
    await writer.set(["a"], 1, { expireIn: 1000 });
    await writer.close();
    const reader = await openKv(handedIn(level), { readOnly: true });
    await pass(minute);
    expect((await reader.get(["a"])).value).toBe(null);
    expect((await count(level)).entries).toBe(1);
    await reader.close();
  });

  it("is swept beside a damaged record and a damaged hint", async () => {
    const level = openLevel();
    const kv = await openKv(handedIn(level));
    for (const key of ["a", "b", "c", "d"]) await kv.set([key], 1, { expireIn: 1000 });
    const damage = async (key: Uint8Array) => {
      const record = (await level.get(key))!.slice();
      record[1]! ^= 1;
      await level.put(key, record);
    };
    await damage(encodeKey(["b"]));
    const hints = (await level.keys().all()).filter((key) => key[0] === 0 && key[1] === 3);
    await damage(hints[2]!);
    await pass(minute);
    await pass(1);
    expect(await count(level)).toEqual({ entries: 2, hints: 0 });
    await expect(kv.get(["b"])).rejects.toMatchObject({ code: "KW_CORRUPTION" });
    expect((await kv.get(["c"])).value).toBe(null);
    await kv.close();
  });

  it("is swept beside a hint whose key is too short", async () => {
    const level = openLevel();
    const engine = await LevelEngine.open(handedIn(level));
    const kv = await openKv(handedIn(level));
    await kv.set(["a"], 1, { expireIn: 1000 });
    const hint = {
      type: "set" as const,
      key: Uint8Array.of(0, 3, 0),
      value: new Uint8Array(0),
      endsInVersionstamp: false,
    };
    await engine.commit([{ checks: [], mutations: [hint], sync: false }]);
    expect((await count(level)).hints).toBe(2);
    await pass(minute);
    await pass(1);
    expect(await count(level)).toEqual({ entries: 0, hints: 0 });
    await kv.close();
  });

  it("is swept by a later sweep if one fails", async () => {
    const level = openLevel();
    const kv = await openKv(handedIn(level));
    await kv.set(["a"], 1, { expireIn: 1000 });
    await settled();
    const iterators = vi.spyOn(level, "iterator").mockImplementation(() => {
      throw new Error("the disk does not answer");
    });
    await pass(2000);
    expect(iterators).toHaveBeenCalled();
    iterators.mockRestore();
    expect((await count(level)).entries).toBe(1);
    await pass(minute);
    expect(await count(level)).toEqual({ entries: 0, hints: 0 });
    await kv.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not keep the database open, nor its process running", async () => {
    const level = openLevel();
    const kv = await openKv(handedIn(level));
    await kv.set(["a"], 1, { expireIn: minute });
    await kv.close();
    expect(vi.getTimerCount()).toBe(0);
    await pass(day);
    expect(level.status).toBe("closed");
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "1000", null, 1e17])(
    "cannot expire in %s",
    async (expireIn) => {
      const kv = await openKv();
      const set = kv.set(["a"], 1, { expireIn: expireIn as number });
      await expect(set).rejects.toMatchObject({ code: "KW_OPTION_INVALID", option: "expireIn" });
      expect((await kv.get(["a"])).versionstamp).toBe(null);
      await kv.close();
    },
  );

  it("may expire in a fraction of a millisecond, and in the year 275760", async () => {
    const kv = await openKv();
    await kv.set(["a"], 1, { expireIn: 0.5 });
    await kv.set(["b"], 1, { expireIn: 8.64e15 - start });
    expect(await kv.get(["a"])).toMatchObject({ expireAt: start + 1 });
    expect(await kv.get(["b"])).toMatchObject({ expireAt: 8.64e15 });
    await kv.close();
  });
});
