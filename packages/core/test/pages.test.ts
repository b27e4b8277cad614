import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareBytes } from "../src/bytes/compare-bytes.js";
import type { RangeRead, ReadView } from "../src/engine/engine.js";
import { MemoryEngine } from "../src/engine/memory/memory-engine.js";
import { visitRange } from "../src/engine/read/visit-entries.js";
import { type CorruptionError, MalformedKeyError } from "../src/errors/core-errors.js";
import {
  compareKeys,
  KeyPrefix,
  type Kv,
  type KvEntry,
  type KvKey,
  type KvKeyPart,
  openKv,
} from "../src/index.js";
import { encodeKey } from "../src/keys/encode-key.js";
import { denoOrder, specificationOrder } from "../src/keys/key-order.js";
import { skipPart } from "../src/keys/skip-part.js";
import { encodeValue } from "../src/values/encode-value.js";
import { key } from "./key-arbitrary.js";

describe("skipPart", () => {
  it("ends where each part ends", () => {
    fc.assert(
      fc.property(key, fc.constantFrom(specificationOrder, denoOrder), (parts, order) => {
        // Deno's order has no larger ones.
        const isLarge = (part: KvKeyPart) => typeof part === "bigint" && part ** 2n >= 1n << 4080n;
        fc.pre(order === specificationOrder || !parts.some(isLarge));
        const bytes = encodeKey(parts, order);
        const ends = parts.map((_, i) => encodeKey(parts.slice(0, i + 1), order).length);
        let end = 0;
        expect(parts.map(() => (end = skipPart(bytes, end, bytes.length, order)))).toEqual(ends);
      }),
    );
  });

  it("refuses a part that has no end or an unknown tag", () => {
    for (const bytes of [[2, 97], [2, 0, 255], [10, 1], [0x16, 1], [0x1d, 9, 1], [5]])
      expect(() => skipPart(Uint8Array.from(bytes), 0, bytes.length, specificationOrder)).toThrow(
        MalformedKeyError,
      );
  });
});

describe("visitRange of an engine that does not have it", () => {
  it("reads no more than 500 entries at once, and all of them", async () => {
    const keys = Array.from({ length: 1100 }, (_, i) => Uint8Array.of(1, i >> 8, i & 255));
    const limits: number[] = [];
    const getRange = async ({ range: { start, end }, limit, reverse }: RangeRead) => {
      limits.push(limit);
      const found = keys.filter(
        (key) => compareBytes(key, start) >= 0 && compareBytes(key, end) < 0,
      );
      const ordered = reverse ? found.toReversed() : found;
      const entryOf = (key: Uint8Array) => {
        return { key, value: key, versionstamp: "0".repeat(20), expireAt: undefined };
      };
      return ordered.slice(0, limit).map(entryOf);
    };
    const range = { start: Uint8Array.of(1), end: Uint8Array.of(2) };
    for (const reverse of [false, true]) {
      for (const limit of [501, 1001, 2000]) {
        const visited: Uint8Array[] = [];
        const reads = { getRange, getMany: () => [] };
        await visitRange(reads, { range, limit, reverse }, ({ key }) => visited.push(key));
        const all = reverse ? keys.toReversed() : keys;
        expect(visited).toEqual(all.slice(0, limit));
      }
    }
    expect(Math.max(...limits)).toBe(500);
  });
});

it("a page that takes several reads is read from one state", async () => {
  const engine = new MemoryEngine();
  const keys = Array.from({ length: 1100 }, (_, i) => encodeKey([i], specificationOrder));
  const value = encodeValue(0);
  const setAll = () => {
    const mutations = keys.map((key) => ({ type: "set", key, value }) as const);
    return engine.commit([{ checks: [], mutations, sync: false }]);
  };
  /** Reads as an engine does that has only the methods that all have. */
  const slow = ({ getRange }: Pick<ReadView, "getRange">) => {
    const read = async (range: RangeRead) => {
      const entries = await getRange(range);
      await setAll();
      return entries;
    };
    return { getRange: read, getMany: () => [] };
  };
  let views = 0;
  const openView = () => {
    const view = engine.openView();
    const close = () => {
      views--;
      view.close();
    };
    views++;
    return { ...slow({ getRange: (range) => view.getRange(range) }), get: () => undefined, close };
  };
  const reads = { ...slow({ getRange: (range) => engine.getRange(range) }), openView };
  await setAll();
  for (const limit of [500, 501, 2000]) {
    const stamps: string[] = [];
    const range = { start: Uint8Array.of(1), end: Uint8Array.of(255) };
    await visitRange(reads, { range, limit, reverse: false }, ({ versionstamp }) =>
      stamps.push(versionstamp),
    );
    expect(stamps).toHaveLength(Math.min(limit, keys.length));
    expect(new Set(stamps).size).toBe(1);
  }
  expect(views).toBe(0);
});

/** Opens a database in memory or in a folder, and removes it after the test. */
async function withKv(where: "memory" | "folder", test: (kv: Kv) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "keywright-pages-"));
  const kv = await openKv(where === "memory" ? ":memory:" : join(folder, "kv"));
  try {
    await test(kv);
  } finally {
    await kv.close();
    await rm(folder, { recursive: true });
  }
}

const keyParts = fc.array(key, { minLength: 1, maxLength: 8 });

describe.each(["memory", "folder"] as const)("pages of a database in a %s", (where) => {
  it("have the entries that a list has", async () => {
    await withKv(where, async (kv) => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(keyParts, fc.boolean(), fc.integer({ min: 1, max: 9 }), async (...of) => {
          const [keys, reverse, limit] = of;
          const place = ["place", run++];
          for (const [i, parts] of keys.entries())
            await kv.set([...place, ...parts, "end"], { i }, i % 2 ? { expireIn: 1e9 } : {});
          for (const reads of [kv, (await kv.openView!())!]) {
            for (const selector of [{ prefix: place }, { start: place, end: [...place, true] }]) {
              const expected = await all(kv.list(selector, { reverse, limit }));
              const options = { limit, reverse, withValues: true };
              const page = await reads.pages!.list(selector, options);
              expect(page.map((entry) => ({ ...plain(entry) }))).toEqual(expected.map(plain));
              for (const [i, entry] of page.entries()) {
                expect(entry.keyLength).toBe(expected[i]!.key.length);
                for (const [n, part] of expected[i]!.key.entries())
                  expect(entry.partAt(n)).toEqual(part);
                expect(entry.partAt(entry.keyLength)).toBeUndefined();
              }
            }
            if ("versionstamp" in reads) reads.close();
          }
        }),
        { numRuns: where === "memory" ? 100 : 20 },
      );
    });
  });

  it("compare their keys with a prefix, and then have the same keys", async () => {
    await withKv(where, async (kv) => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(keyParts, fc.array(key, { maxLength: 2 }), async (keys, others) => {
          const [place, rows] = [`keys ${run}`, `rows ${run++}`];
          const whole = keys.map((parts, i): KvKey => [place, ...parts, i]);
          const write = kv.atomic();
          for (const written of whole) write.set(written, null).set([rows, ...written], null);
          await write.commit();
          const read = { limit: 100, reverse: false, withValues: false };
          const prefixes = [...whole, ...others.map((parts): KvKey => [place, ...parts])];
          for (const parts of prefixes.flatMap((long) =>
            long.map((_, i) => long.slice(0, i + 1)),
          )) {
            const prefix = new KeyPrefix(parts);
            const entries = await kv.pages!.list({ prefix: [place] }, read);
            const sorted = whole.toSorted((a, b) => compareKeys(a, b));
            const places = sorted.map((written) => {
              const first = written.slice(0, parts.length);
              return Math.sign(compareKeys(first, parts));
            });
            expect(entries.map((entry) => Math.sign(entry.compareStart(prefix)))).toEqual(places);
            expect(entries.map(({ keyLength }) => keyLength)).toEqual(
              sorted.map(({ length }) => length),
            );
            const { length } = parts;
            expect(entries.map((entry) => [entry.partAt(0), entry.partAt(length - 1)])).toEqual(
              sorted.map((written) => [place, written[length - 1]]),
            );
            const linked = await kv.pages!.getLinked(entries, [rows, place], 1);
            expect(linked.map((entry) => entry?.key)).toEqual(
              sorted.map((written) => [rows, ...written]),
            );
            for (const [i, entry] of entries.entries()) {
              expect(entry.key).toEqual(sorted[i]);
              for (const part of entry.key)
                expect(typeof part === "object" && prefix.parts.includes(part)).toBe(false);
            }
          }
        }),
        { numRuns: where === "memory" ? 60 : 10 },
      );
    });
  });

  it("know the parts that the start and the end of their range share", async () => {
    await withKv(where, async (kv) => {
      const bytes = Uint8Array.of(1);
      for (const shared of ["a", "a\0", 0, -0, 1n, false, Number.NaN, bytes] as const) {
        const written: KvKey = ["shared", shared, "b", 1];
        await kv.set(written, null);
        for (const start of [["shared"], ["shared", shared], ["shared", shared, "b"]]) {
          const range = { start, end: ["shared", shared, "b", 2] };
          const options = { limit: 9, reverse: true, withValues: false };
          const [entry] = await kv.pages!.list(range, options);
          expect(entry?.key).toEqual(written);
          expect(entry?.keyLength).toBe(4);
        }
      }
      await kv.set(["zero", 0, "b"], null);
      await kv.set(["zero", -0, "b"], null);
      const range = { start: ["zero", -0], end: ["zero", 0, "c"] };
      const options = { limit: 9, reverse: false, withValues: false };
      const entries = await kv.pages!.list(range, options);
      expect(entries.map((entry) => entry.partAt(1))).toEqual([-0, 0]);
    });
  });

  it("have the first entries of many ranges, as a list of each has them", async () => {
    await withKv(where, async (kv) => {
      let run = 0;
      const sizes = fc.array(fc.constantFrom(0, 0, 1, 2, 9, 30), { minLength: 1, maxLength: 20 });
      const options = fc.record({
        limit: fc.constantFrom(1, 2, 10, 1000),
        most: fc.constantFrom(1, 3, 40, 1000),
        isRead: fc.func(fc.boolean()),
        hasAfter: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(sizes, options, async (numbers, { limit, most, isRead, hasAfter }) => {
          const place = `each ${run++}`;
          // Keys of parts of which one begins as another, and keys with more and with fewer parts.
          const partOf = (i: number) => (i % 3 === 0 ? `${i}`.padStart(2, "0") : `0${i}\0`);
          const write = kv.atomic();
          for (const [i, size] of numbers.entries()) {
            if (size > 2) write.set([place, partOf(i)], "itself");
            for (let n = 0; n < size; n++)
              write.set([place, partOf(i), n, ...(n % 7 === 5 ? ["more"] : [])], { i, n });
          }
          await write.set([place, "~"], "last").commit();
          const sorted = numbers.map((_, i) => new KeyPrefix([place, partOf(i)]));
          sorted.sort((a, b) => compareBytes(a.bytes, b.bytes));
          const prefixes = sorted.filter(({ parts }) => isRead(parts[1]));
          const after = hasAfter && prefixes.length > 0 ? [...prefixes[0]!.parts, 1] : undefined;
          const expected: KvEntry<unknown>[][] = [];
          let left: number = most;
          for (const [i, { parts }] of prefixes.entries()) {
            if (left === 0) break;
            const isAfter = ({ key }: KvEntry<unknown>) =>
              i > 0 || after === undefined || compareKeys(key, after) > 0;
            const entries = await all(kv.list({ prefix: parts }));
            expected.push(entries.filter(isAfter).slice(0, Math.min(limit, left)));
            left -= expected.at(-1)!.length;
          }
          for (const reads of [kv, (await kv.openView!())!]) {
            for (const withValues of [true, false]) {
              const read = { limit, most, after, withValues };
              const lists = await reads.pages!.listEach(prefixes, read);
              // A read that is full may end before ranges without entries.
              if (left > 0) expect(lists).toHaveLength(prefixes.length);
              const found = lists.map((list) => list.map(plain));
              const wanted = expected.map((list) =>
                list.map((entry) => plain(withValues ? entry : { ...entry, value: undefined })),
              );
              while (wanted.length > found.length) expect(wanted.pop()).toEqual([]);
              expect(found).toEqual(wanted);
              for (const entry of lists.flat()) expect(entry.keyLength).toBe(entry.key.length);
            }
            const counts = await reads.pages!.countEach(prefixes, 3);
            const counted = prefixes.map(async ({ parts }) => {
              const entries = await all(kv.list({ prefix: parts }));
              return entries.filter(({ key: { length } }) => length === 3).length;
            });
            expect(counts).toEqual(await Promise.all(counted));
            if ("versionstamp" in reads) reads.close();
          }
        }),
        { numRuns: where === "memory" ? 200 : 30 },
      );
      expect(await kv.pages!.listEach([], { limit: 1, most: 1, withValues: true })).toEqual([]);
    });
  });

  it("lead to the entries whose keys continue with the last parts of theirs", async () => {
    await withKv(where, async (kv) => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(keyParts, fc.nat(2), async (keys, absent) => {
          const [index, rows] = [`index ${run}`, `rows ${run++}`];
          const write = kv.atomic();
          for (const [i, parts] of keys.entries()) {
            write.set([index, "value", ...parts, i], null);
            if (i !== absent) write.set([rows, 1, ...parts, i], { i });
          }
          await write.commit();
          const read = { limit: 100, reverse: false, withValues: false };
          for (const prefix of [[index], [index, "value"]]) {
            const entries = await kv.pages!.list({ prefix }, read);
            const linked = await kv.pages!.getLinked(entries, [rows, 1], 2);
            expect(linked.map((entry) => entry && plain(entry))).toEqual(
              await Promise.all(entries.map(({ key }) => rowAt(kv, [rows, 1, ...key.slice(2)]))),
            );
            expect(linked.filter((entry) => entry === undefined)).toHaveLength(
              absent < keys.length ? 1 : 0,
            );
          }
        }),
        { numRuns: where === "memory" ? 100 : 20 },
      );
    });
  });

  it("have only the properties of values that are asked for, and no values of keys", async () => {
    await withKv(where, async (kv) => {
      await kv.set(["a"], { one: 1, two: 2 });
      const read = { limit: 1, reverse: false };
      const properties = new Set(["two"]);
      const [some] = await kv.pages!.list(
        { prefix: [] },
        { ...read, withValues: true, properties },
      );
      expect(some?.value).toEqual({ two: 2 });
      const [none] = await kv.pages!.list({ prefix: [] }, { ...read, withValues: false });
      expect(none?.value).toBeUndefined();
    });
  });

  it("are refused after the database was closed", async () => {
    const kv = await openKv();
    const { pages } = kv;
    await kv.close();
    const options = { limit: 1, reverse: false, withValues: true };
    await expect(async () => pages!.list({ prefix: [] }, options)).rejects.toMatchObject({
      code: "KW_DATABASE_CLOSED",
    });
  });
});

describe("pages with entries that cannot be decoded", () => {
  const read = { limit: 9, reverse: false };
  const damage = { code: "KW_CORRUPTION" };
  const set = async (engine: MemoryEngine, key: Uint8Array, value: Uint8Array) => {
    const mutations = [{ type: "set", key, value } as const];
    await engine.commit([{ checks: [], mutations, sync: false }]);
  };

  it("report keys as damaged, whatever is asked for", async () => {
    const engine = new MemoryEngine();
    const kv = await openKv(engine);
    const key = Uint8Array.of(...encodeKey(["place"], specificationOrder), 5);
    await set(engine, key, encodeValue(1));
    const [entry] = await kv.pages!.list({ prefix: ["place"] }, { ...read, withValues: true });
    const reads = [
      () => entry!.key,
      () => entry!.keyLength,
      () => entry!.partAt(1),
      () => kv.pages!.getLinked([entry!], ["rows"], 2),
    ];
    for (const readEntry of reads) expect(readEntry).toThrow(expect.objectContaining(damage));
    await kv.close();
  });

  it("report values with keys that stay when the engine reads the next entry", async () => {
    const engine = new MemoryEngine();
    const shared = new Uint8Array(32);
    engine.visitRange = ({ range: { start } }, visit) => {
      shared.set(start);
      const key = shared.subarray(0, start.length);
      visit({ key, value: Uint8Array.of(9), versionstamp: "0".repeat(20), expireAt: undefined });
    };
    const kv = await openKv(engine);
    const list = async (name: string) =>
      kv.pages!.list({ start: [name], end: [name, true] }, { ...read, withValues: true });
    const error = await list("first").catch((thrown: CorruptionError) => thrown);
    await expect(list("other")).rejects.toMatchObject(damage);
    expect(error).toMatchObject({ ...damage, key: encodeKey(["first"], specificationOrder) });
    await kv.close();
  });
});

it("a page has a limit that is a positive integer", async () => {
  const kv = await openKv();
  await kv.set(["a"], 1);
  for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    const list = () => kv.pages!.list({ prefix: [] }, { limit, reverse: false, withValues: true });
    expect(list).toThrow(expect.objectContaining({ code: "KW_SELECTOR_INVALID" }));
  }
  await kv.close();
});

it("a database in Deno's mode has no pages", async () => {
  const kv = await openKv(":memory:", { compat: "deno" });
  expect(kv.pages).toBeUndefined();
  await kv.close();
});

async function all<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

async function rowAt(kv: Kv, key: readonly KvKeyPart[]): Promise<unknown> {
  const entry = await kv.get(key);
  return entry.versionstamp === null ? undefined : plain(entry);
}

function plain({
  key,
  value,
  versionstamp,
  expireAt,
}: Pick<KvEntry<unknown>, "key" | "value" | "versionstamp"> & {
  readonly expireAt?: number | undefined;
}) {
  return { key, value, versionstamp, expireAt };
}
