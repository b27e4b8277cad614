import { Buffer } from "node:buffer";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { MemoryLevel } from "memory-level";
import { describe, expect, it } from "vitest";
import { type AtomicWrite, maxRangeBytes, type StoredMutation } from "../src/engine/engine.js";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import {
  CorruptionError,
  DatabaseClosedError,
  DatabaseFormatError,
  EngineFailedError,
} from "../src/errors/core-errors.js";
import { encodeKey } from "../src/keys/encode-key.js";
import { keyRange } from "../src/keys/key-range.js";
import { maxGroupSize } from "../src/values/versionstamp.js";
import { withFolder } from "./temporary-folder.js";

type MemoryDatabase = MemoryLevel<Uint8Array, Uint8Array>;
type DiskDatabase = ClassicLevel<Uint8Array, Uint8Array>;

const view = { keyEncoding: "view", valueEncoding: "view" } as const;

/**
 * A database in memory whose records a test can change directly, and a function that opens an
 * engine on it.
 */
async function withMemory(
  body: (level: MemoryDatabase, open: () => Promise<LevelEngine>) => Promise<void>,
): Promise<void> {
  const level: MemoryDatabase = new MemoryLevel({ ...view, storeEncoding: "view" });
  try {
    await body(level, () => LevelEngine.open(level as unknown as LevelDatabase));
  } finally {
    await level.close();
  }
}

async function withDisk(
  body: (level: DiskDatabase, folder: string, open: () => Promise<LevelEngine>) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const level: DiskDatabase = new ClassicLevel(folder, view);
    try {
      await body(level, folder, () =>
        LevelEngine.open(level as unknown as LevelDatabase, { copiesWrites: true }),
      );
    } finally {
      await level.close();
    }
  });
}

/** Everything that stands in a database, as hex. */
async function contents(level: MemoryDatabase | DiskDatabase): Promise<string[][]> {
  const entries = await (level as MemoryDatabase).iterator(view).all();
  return entries.map((entry) => entry.map((bytes) => Buffer.from(bytes).toString("hex")));
}

const headerKey = Uint8Array.of(0, 1);
const commitKey = (sequence: number) => Uint8Array.of(0, 2, sequence >> 8, sequence & 0xff);
const keyOf = (...parts: (string | number)[]) => encodeKey(parts);

function write(...mutations: StoredMutation[]): AtomicWrite {
  return { checks: [], mutations, sync: true };
}

function set(name: string, ...value: number[]): StoredMutation {
  return { type: "set", key: keyOf(name), value: Uint8Array.from(value) };
}

describe("opening a database that is not Keywright's", () => {
  it.each([
    ["an ordinary key", Buffer.from("user:1")],
    ["a key that begins with a zero byte", Buffer.of(0, 0)],
    ["a key after the header's", Buffer.of(0, 1, 0)],
    ["the key ff", Buffer.of(0xff)],
  ])("fails with %s, and adds nothing", async (_name, key) => {
    await withMemory(async (level, open) => {
      await level.put(key, Buffer.from("theirs"));
      const before = await contents(level);
      await expect(open()).rejects.toThrow(DatabaseFormatError);
      expect(await contents(level)).toEqual(before);
    });
    await withDisk(async (level, _folder, open) => {
      await level.put(key, Buffer.from("theirs"));
      const before = await contents(level);
      await expect(open()).rejects.toMatchObject({ code: "KW_DATABASE_FORMAT" });
      expect(await contents(level)).toEqual(before);
    });
  });

  it("fails where something else stands under the header's key", async () => {
    await withMemory(async (level, open) => {
      await level.put(headerKey, Buffer.from("theirs"));
      const before = await contents(level);
      await expect(open()).rejects.toThrow(CorruptionError);
      expect(await contents(level)).toEqual(before);
    });
  });

  it("fails where the header is gone", async () => {
    await withMemory(async (level, open) => {
      await (await open()).commit([write(set("a", 1))]);
      await level.del(headerKey);
      await expect(open()).rejects.toThrow(DatabaseFormatError);
    });
  });
});

describe("opening a damaged database", () => {
  /** Ten groups, the third of which has no mutation. */
  async function tenGroups(open: () => Promise<LevelEngine>): Promise<void> {
    const engine = await open();
    for (let n = 1; n <= 10; n++)
      await engine.commit([n === 3 ? write() : write(set(`key ${n}`, n))]);
  }

  it("fails for each bit of its header", async () => {
    await withMemory(async (level, open) => {
      await tenGroups(open);
      const header = await level.get(headerKey);
      for (let bit = 0; bit < header!.length * 8; bit++) {
        const damaged = Uint8Array.from(header!);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        await level.put(headerKey, damaged);
        await expect(open()).rejects.toMatchObject({ code: "KW_CORRUPTION", key: headerKey });
      }
    });
  });

  it("fails where a commit record is gone from the middle", async () => {
    for (let missing = 1; missing < 10; missing++) {
      await withMemory(async (level, open) => {
        await tenGroups(open);
        await level.del(commitKey(missing));
        await expect(open()).rejects.toMatchObject({ code: "KW_CORRUPTION" });
      });
    }
  });

  it("fails where a commit record has a bit flipped", async () => {
    await withMemory(async (level, open) => {
      await tenGroups(open);
      const record = Uint8Array.from((await level.get(commitKey(10)))!);
      record[5]! ^= 0x10;
      await level.put(commitKey(10), record);
      await expect(open()).rejects.toMatchObject({ code: "KW_CORRUPTION", key: commitKey(10) });
    });
  });

  it("succeeds where commits are gone from the end, which are those that were never acknowledged", async () => {
    await withMemory(async (level, open) => {
      await tenGroups(open);
      await level.del(commitKey(10));
      await level.del(keyOf("key 10"));
      const [stamp] = await (await open()).commit([write()]);
      expect(stamp).toBe("000000000000000a0000");
    });
  });
});

describe("the last key of a database", () => {
  it("stands behind all entries, is given to a database of an earlier version, and is not read", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      await engine.commit([write(set("a", 1))]);
      const last = Uint8Array.of(0xff);
      expect(await level.get(last)).toHaveLength(0);
      await level.del(last);
      await open();
      expect(await level.get(last)).toHaveLength(0);
      const range = { start: Uint8Array.of(1), end: last };
      for (const reverse of [false, true])
        expect(await engine.getRange({ range, limit: 10, reverse })).toHaveLength(1);
    });
  });
});

describe("a damaged record", () => {
  it("is never a value, whichever bit was flipped and however it is read", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      await engine.commit([write(set("a", 1), set("b", 1, 0xa1, 0x62), set("c", 3))]);
      const key = keyOf("b");
      const record = await level.get(key);
      const check = { key, versionstamp: "00000000000000010000" };
      for (let bit = 0; bit < record!.length * 8; bit++) {
        const damaged = Uint8Array.from(record!);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        await level.put(key, damaged);
        const corruption = expect.objectContaining({ code: "KW_CORRUPTION", key });
        expect(() => engine.get(key)).toThrow(corruption);
        expect(() => engine.getMany([keyOf("a"), key])).toThrow(corruption);
        await expect(
          engine.getRange({ range: keyRange({ prefix: [] }), limit: 9, reverse: false }),
        ).rejects.toEqual(corruption);
        expect(await engine.commit([{ ...write(set("a", 9)), checks: [check] }])).toEqual([
          corruption,
        ]);
      }
      expect(await engine.get(keyOf("a"))).toMatchObject({ value: Uint8Array.of(1) });
    });
  });

  it("fails the commit that checks it, and no other of the group", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      const [stamp] = await engine.commit([write(set("a", 1))]);
      await level.put(keyOf("a"), Uint8Array.of(1, 2, 3));
      const outcomes = await engine.commit([
        write(set("b", 1)),
        { ...write(set("b", 9)), checks: [{ key: keyOf("a"), versionstamp: stamp as string }] },
        write(set("c", 1)),
      ]);
      expect(outcomes).toEqual([
        expect.any(String),
        expect.any(CorruptionError),
        expect.any(String),
      ]);
      expect(await engine.get(keyOf("b"))).toMatchObject({ value: Uint8Array.of(1) });
    });
  });

  it("can be overwritten or deleted", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      await engine.commit([write(set("a", 1), set("b", 1))]);
      for (const name of ["a", "b"]) await level.put(keyOf(name), Uint8Array.of(0));
      await engine.commit([write(set("a", 2), { type: "delete", key: keyOf("b") })]);
      expect(await engine.get(keyOf("a"))).toMatchObject({ value: Uint8Array.of(2) });
      expect(await engine.get(keyOf("b"))).toBeUndefined();
    });
  });
});

describe("a damaged block of LevelDB's", () => {
  /** Writes a few hundred entries, brings them to a table file, and damages one block of it. */
  async function damage(
    level: DiskDatabase,
    folder: string,
    open: () => Promise<LevelEngine>,
  ): Promise<LevelEngine> {
    const engine = await open();
    for (let n = 0; n < 1000; n += 100) {
      const mutations = Array.from({ length: 100 }, (_, i): StoredMutation => {
        // LevelDB compresses it: a damaged block cannot be read at all.
        const value = new Uint8Array(500).fill(i);
        return { type: "set", key: keyOf("row", n + i), value };
      });
      await engine.commit([{ ...write(...mutations), sync: false }]);
    }
    await level.close();
    await level.open();
    await level.compactRange(Uint8Array.of(0), Uint8Array.of(0xff));
    await level.close();
    const tables = (await readdir(folder)).filter((name) => name.endsWith(".ldb"));
    expect(tables.length).toBeGreaterThan(0);
    const path = join(folder, tables.at(-1)!);
    const bytes = await readFile(path);
    const middle = bytes.length >> 1;
    bytes.fill(0xff, middle, middle + 64);
    await writeFile(path, bytes);
    await level.open();
    return await open();
  }

  it("fails a range that has it in its midst, in either direction and whatever the limit", async () => {
    await withDisk(async (level, folder, open) => {
      const engine = await damage(level, folder, open);
      const range = keyRange({ prefix: ["row"] });
      for (const reverse of [false, true]) {
        for (const limit of [900, 1000, 2000]) {
          await expect(engine.getRange({ range, limit, reverse })).rejects.toMatchObject({
            code: "KW_CORRUPTION",
            cause: { code: "LEVEL_CORRUPTION" },
          });
        }
      }
    });
  });

  it("leaves no gap in what is read in batches", async () => {
    await withDisk(async (level, folder, open) => {
      const engine = await damage(level, folder, open);
      for (const reverse of [false, true]) {
        let failures = 0;
        for (let first = 0; first <= 980; first += 10) {
          const rows = Array.from({ length: 20 }, (_, i) => Buffer.from(keyOf("row", first + i)));
          const range = reverse
            ? keyRange({ start: ["row"], end: ["row", first + 20] })
            : keyRange({ start: ["row", first], end: ["row", 1000] });
          try {
            const entries = await engine.getRange({ range, limit: 20, reverse });
            const keys = entries.map((entry) => Buffer.from(entry.key));
            expect(keys).toEqual(reverse ? rows.toReversed() : rows);
          } catch (error) {
            expect(error).toBeInstanceOf(CorruptionError);
            failures++;
          }
        }
        expect(failures).toBeGreaterThan(0);
        expect(failures).toBeLessThan(50);
      }
    });
  });

  it("fails a read of a key in it, and leaves the others alone", async () => {
    await withDisk(async (level, folder, open) => {
      const engine = await damage(level, folder, open);
      let damaged = 0;
      for (let n = 0; n < 1000; n++) {
        try {
          expect(await engine.get(keyOf("row", n))).toBeDefined();
        } catch (error) {
          const cause = { code: "LEVEL_CORRUPTION" };
          expect(error).toMatchObject({ code: "KW_CORRUPTION", key: keyOf("row", n), cause });
          damaged++;
        }
      }
      expect(damaged).toBeGreaterThan(0);
      expect(damaged).toBeLessThan(200);
    });
  });
});

describe("a commit", () => {
  it("writes nothing where none of its group is applied", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      await engine.commit([write(set("a", 1))]);
      const before = await contents(level);
      const refused = { ...write(set("b", 2)), checks: [{ key: keyOf("a"), versionstamp: null }] };
      expect(await engine.commit([refused, refused])).toEqual([null, null]);
      expect(await contents(level)).toEqual(before);
    });
  });

  it("of as many writes as a versionstamp can count", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      const outcomes = await engine.commit(Array.from({ length: maxGroupSize }, () => write()));
      expect(outcomes[0]).toBe("00000000000000010000");
      expect(outcomes.at(-1)).toBe("0000000000000001ffff");
      expect(new Set(outcomes).size).toBe(maxGroupSize);
      expect(await (await open()).commit([write()])).toEqual(["00000000000000020000"]);
      // The header, the last key, and two commit records.
      expect(await contents(level)).toHaveLength(4);
    });
  });

  it("reuses the slots of the oldest commit records", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      for (let n = 0; n < 32_768 + 3; n++) await engine.commit([write()]);
      expect(await contents(level)).toHaveLength(32_768 + 2);
      expect(await (await open()).commit([write()])).toEqual(["00000000000080040000"]);
    });
  });

  it("that fails takes no versionstamp, and leaves reads as they were", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      await engine.commit([write(set("a", 1))]);
      const batch = level.batch.bind(level) as () => { write: () => Promise<void> };
      const failure = new Error("no space left");
      Object.assign(level, {
        batch: () => Object.assign(batch(), { write: () => Promise.reject(failure) }),
      });
      await expect(engine.commit([write(set("a", 2))])).rejects.toThrow(failure);
      Object.assign(level, { batch });
      // An answer at once, without a snapshot: no write is under way.
      expect(engine.getMany([keyOf("a")])).toMatchObject([{ value: Uint8Array.of(1) }]);
      expect(await engine.commit([write(set("a", 3))])).toEqual(["00000000000000020000"]);
    });
  });

  it("is synced to disk where one of its group asks for it, and only there", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      const synced: unknown[] = [];
      const batch = level.batch.bind(level) as () => { write: (options?: object) => Promise<void> };
      Object.assign(level, {
        batch: () => {
          const chained = batch();
          const writeBatch = chained.write.bind(chained);
          return Object.assign(chained, {
            write: (options?: { sync?: boolean }) => {
              synced.push(options?.sync ?? false);
              return writeBatch(options);
            },
          });
        },
      });
      const relaxed = { ...write(set("a", 1)), sync: false };
      await engine.commit([relaxed]);
      await engine.commit([write(set("a", 1))]);
      await engine.commit([relaxed, write(set("a", 1)), relaxed]);
      expect(synced).toEqual([false, true, true]);
    });
  });
});

describe("reads", () => {
  it("close every iterator and snapshot that they open", async () => {
    await withDisk(async (level, _folder, open) => {
      const engine = await open();
      await engine.commit([write(set("a", 1), set("b", 2))]);
      const iterators: { nextv(size: number): Promise<unknown> }[] = [];
      const snapshots: { ref(): void }[] = [];
      const iterator = level.iterator.bind(level);
      const snapshot = level.snapshot.bind(level);
      Object.assign(level, {
        iterator: (options: object) => {
          const opened = iterator(options);
          iterators.push(opened);
          return opened;
        },
        snapshot: () => {
          const opened = snapshot();
          snapshots.push(opened);
          return opened;
        },
      });
      const everything = { range: keyRange({ prefix: [] }), limit: 9, reverse: false };
      await engine.getRange(everything);
      await engine.getRange({ ...everything, limit: 1 });
      const commit = engine.commit([write(set("a", 3))]);
      // The commit begins its write in one of these microtasks and ends it in a later turn of the
      // event loop.
      for (let turn = 0; turn < 50; turn++) await engine.getMany([keyOf("a"), keyOf("b")]);
      await commit;
      expect(snapshots.length).toBeGreaterThan(0);
      await level.put(keyOf("b"), Uint8Array.of(1));
      await expect(engine.getRange(everything)).rejects.toThrow(CorruptionError);
      expect(iterators).toHaveLength(3);
      for (const opened of iterators)
        await expect(opened.nextv(1)).rejects.toMatchObject({ code: "LEVEL_ITERATOR_NOT_OPEN" });
      for (const opened of snapshots) expect(() => opened.ref()).toThrow(/not open/);
    });
  });

  it("say that the database is closed if it was closed in between", async () => {
    await withDisk(async (level, _folder, open) => {
      const engine = await open();
      const value = new Uint8Array(100_000);
      const mutations = Array.from(
        { length: 200 },
        (_, i): StoredMutation => ({ type: "set", key: keyOf("big", i), value }),
      );
      await engine.commit([write(...mutations)]);
      const read = engine.getRange({
        range: keyRange({ prefix: ["big"] }),
        limit: 200,
        reverse: false,
      });
      const outcome = read.then(
        (entries) => entries.length,
        (error: unknown) => error,
      );
      await level.close();
      expect(await outcome).toBeInstanceOf(DatabaseClosedError);
      expect(() => engine.get(keyOf("a"))).toThrow(DatabaseClosedError);
      await expect(
        engine.getRange({ range: keyRange({ prefix: [] }), limit: 1, reverse: false }),
      ).rejects.toThrow(DatabaseClosedError);
    });
  });

  it("say what the database failed with", async () => {
    await withMemory(async (level, open) => {
      const engine = await open();
      await engine.commit([write(set("a", 1))]);
      const cause = Object.assign(new Error("unreadable"), { code: "LEVEL_IO_ERROR" });
      Object.assign(level, {
        getSync: () => {
          throw cause;
        },
      });
      expect(() => engine.get(keyOf("a"))).toThrow(EngineFailedError);
      expect(() => engine.get(keyOf("a"))).toThrow(expect.objectContaining({ cause }));
      const check = { key: keyOf("a"), versionstamp: null };
      const outcomes = await engine.commit([
        { ...write(set("a", 2)), checks: [check] },
        write(set("b", 1)),
      ]);
      expect(outcomes).toEqual([expect.any(EngineFailedError), expect.any(String)]);
    });
  });
});

describe("a range that is read in several parts", () => {
  /** Reads the first and the last entry of a range while commits set both of them. */
  async function readWhileCommitting(between: readonly StoredMutation[], limit: number) {
    await withDisk(async (_level, _folder, open) => {
      const engine = await open();
      const commit = (...mutations: StoredMutation[]) =>
        engine.commit([{ checks: [], mutations, sync: false }]);
      const setBoth = () => commit(setOf("a"), setOf("z"));
      await commit(...between);
      await setBoth();
      let isReading = true;
      const writing = (async () => {
        while (isReading) await setBoth();
      })();
      for (let i = 0; i < 20; i++) {
        const read = { range: keyRange({ prefix: [] }), limit, reverse: false };
        const entries = await engine.getRange(read);
        expect(entries.at(-1)!.key).toEqual(encodeKey(["z"]));
        expect(entries.at(-1)!.versionstamp).toBe(entries[0]!.versionstamp);
        const visited: string[] = [];
        await engine.visitRange(read, ({ versionstamp }) => visited.push(versionstamp));
        expect(visited.at(-1)).toBe(visited[0]);
      }
      isReading = false;
      await writing;
      await engine.close();
    });
  }

  const setOf = (name: string, options: { expireAt?: number; bytes?: number } = {}) => {
    const { bytes = 1, ...expiry } = options;
    return {
      type: "set",
      key: encodeKey([name]),
      value: new Uint8Array(bytes),
      ...expiry,
    } as const;
  };

  it("is read from one state if entries of it have expired", async () => {
    const expired = Array.from({ length: 600 }, (_, i) => setOf(`m${i}`, { expireAt: 1 }));
    await readWhileCommitting(expired, 2);
  });

  it("is read from one state if records reach the bytes of a read, but not their values", async () => {
    const bytes = maxRangeBytes / 1000 - 10;
    const large = Array.from({ length: 1000 }, (_, i) => setOf(`m${i}`, { bytes }));
    await readWhileCommitting(large, 2000);
  });
});
