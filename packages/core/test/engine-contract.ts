import assert from "node:assert/strict";
import type { AtomicWrite, Engine, StoredEntry, StoredMutation } from "../src/engine/engine.js";
import { encodeKey } from "../src/keys/encode-key.js";
import type { KvKey } from "../src/keys/key.js";
import { type KvListSelector, keyRange } from "../src/keys/key-range.js";
import type { TestRunner } from "./test-runner.js";

/** A store for one test, with an engine open on it. */
export interface EngineStore {
  readonly engine: Engine;
  /** Closes the engine and opens another one on what it has stored. */
  reopen(): Promise<Engine>;
  /** Closes the engine and removes what it has stored. */
  dispose(): Promise<void>;
}

export interface EngineAdapter {
  readonly name: string;
  /** Makes an empty store. */
  create(): Promise<EngineStore>;
}

/** Tests what every engine must do, whatever it stores its bytes in. */
export function engineContract({ describe, it }: TestRunner, adapter: EngineAdapter): void {
  const test = (name: string, body: (engine: Engine, store: EngineStore) => Promise<void>) =>
    it(name, async () => {
      const store = await adapter.create();
      try {
        await body(store.engine, store);
      } finally {
        await store.dispose();
      }
    });

  describe(`${adapter.name}: get`, () => {
    test("answers undefined for a key that is not there", async (engine) => {
      assert.equal(await engine.get(k("a")), undefined);
      await commit(engine, write(set("a", 1)));
      assert.equal(await engine.get(k("a", 1)), undefined);
      assert.equal(await engine.get(k("b")), undefined);
    });

    test("answers the key, the value and the versionstamp of its commit", async (engine) => {
      const versionstamp = await commit(engine, write(set("a", 7)));
      const entry = await engine.get(k("a"));
      assert.deepEqual(plain(entry), { key: [...k("a")], value: [7], versionstamp });
    });

    test("takes values of no bytes and of a megabyte", async (engine) => {
      const large = Uint8Array.from({ length: 1_000_000 }, (_, i) => i % 251);
      await commit(
        engine,
        write(
          { type: "set", key: k("empty"), value: new Uint8Array(0) },
          { type: "set", key: k("large"), value: large },
        ),
      );
      assert.equal((await engine.get(k("empty")))?.value.length, 0);
      assert.deepEqual(new Uint8Array((await engine.get(k("large")))!.value), large);
    });

    test("takes keys of every part type, empty parts and long parts", async (engine) => {
      const keys = [
        k(""),
        k(new Uint8Array(0)),
        k("\0"),
        k(Number.NaN),
        k(-0),
        k(0),
        k(0n),
        k(-(1n << 100n)),
        k(true),
        k(false),
        k("x".repeat(3000)),
      ];
      await commit(
        engine,
        write(...keys.map((key, i): StoredMutation => ({ type: "set", key, value: v(i) }))),
      );
      for (const [index, key] of keys.entries())
        assert.deepEqual(plain(await engine.get(key))?.value, [index]);
    });

    test("does not keep the memory of a value that was handed over", async (engine) => {
      const value = v(1, 2, 3);
      await commit(engine, write({ type: "set", key: k("a"), value }));
      value.fill(9);
      assert.deepEqual(plain(await engine.get(k("a")))?.value, [1, 2, 3]);
    });
  });

  describe(`${adapter.name}: getMany`, () => {
    test("answers in the order of the keys, also for absent and repeated ones", async (engine) => {
      await commit(engine, write(set("a", 1), set("b", 2)));
      const entries = await engine.getMany([k("b"), k("missing"), k("a"), k("b")]);
      assert.deepEqual(
        entries.map((entry) => plain(entry)?.value),
        [[2], undefined, [1], [2]],
      );
      assert.deepEqual(await engine.getMany([]), []);
    });

    test("sees one state of the database beside commits", async (engine) => {
      const keys = Array.from({ length: 100 }, (_, i) => k("counter", i));
      const setAll = (n: number): AtomicWrite =>
        write(...keys.map((key): StoredMutation => ({ type: "set", key, value: v(n) })));
      await commit(engine, setAll(0));
      await besideCommits(engine, 100, setAll, async () => {
        const entries = await engine.getMany(keys);
        assertOneState(entries, keys.length);
      });
    });
  });

  describe(`${adapter.name}: getRange`, () => {
    const range = async (
      engine: Engine,
      selector: KvListSelector,
      limit = 1000,
      reverse = false,
    ): Promise<number[]> => {
      const entries = await engine.getRange({ range: keyRange(selector), limit, reverse });
      return entries.map((entry) => entry.value[0]!);
    };
    const fiveLetters = write(set("a", 1), set("b", 2), set("c", 3), set("d", 4), set("e", 5));

    test("reads in order from the start on and up to the end without it", async (engine) => {
      await commit(engine, fiveLetters);
      assert.deepEqual(await range(engine, { start: ["b"], end: ["d"] }), [2, 3]);
      assert.deepEqual(await range(engine, { start: ["b"], end: ["d"] }, 1000, true), [3, 2]);
      assert.deepEqual(await range(engine, { start: ["aa"], end: ["cc"] }), [2, 3]);
      assert.deepEqual(await range(engine, { start: ["aa"], end: ["cc"] }, 1000, true), [3, 2]);
    });

    test("reads at most as many as were asked for, from either end", async (engine) => {
      await commit(engine, fiveLetters);
      const all: KvListSelector = { prefix: [] };
      assert.deepEqual(await range(engine, all, 1), [1]);
      assert.deepEqual(await range(engine, all, 2), [1, 2]);
      assert.deepEqual(await range(engine, all, 5), [1, 2, 3, 4, 5]);
      assert.deepEqual(await range(engine, all, 6), [1, 2, 3, 4, 5]);
      assert.deepEqual(await range(engine, all, 2, true), [5, 4]);
      assert.deepEqual(await range(engine, all, 6, true), [5, 4, 3, 2, 1]);
    });

    test("reads nothing from an empty range or an empty database", async (engine) => {
      assert.deepEqual(await range(engine, { prefix: [] }), []);
      await commit(engine, fiveLetters);
      for (const reverse of [false, true]) {
        assert.deepEqual(await range(engine, { start: ["b"], end: ["b"] }, 10, reverse), []);
        assert.deepEqual(await range(engine, { start: ["bb"], end: ["bc"] }, 10, reverse), []);
        assert.deepEqual(await range(engine, { start: ["x"], end: ["y"] }, 10, reverse), []);
        assert.deepEqual(await range(engine, { start: [], end: [] }, 10, reverse), []);
        assert.deepEqual(
          await range(engine, { start: [], end: [new Uint8Array(0)] }, 10, reverse),
          [],
        );
      }
    });

    test("of everything has the entries alone, none of the engine's own records", async (engine) => {
      await commit(engine, fiveLetters);
      await commit(engine, write(set("f", 6)));
      const everything = { start: new Uint8Array(0), end: Uint8Array.of(0xff) };
      for (const reverse of [false, true]) {
        const entries = await engine.getRange({ range: everything, limit: 1000, reverse });
        assert.equal(entries.length, 6);
      }
    });

    test("answers each entry with its key and versionstamp", async (engine) => {
      const first = await commit(engine, write(set("a", 1)));
      const second = await commit(engine, write(set("b", 2)));
      const entries = await engine.getRange({
        range: keyRange({ prefix: [] }),
        limit: 9,
        reverse: false,
      });
      assert.deepEqual(entries.map(plain), [
        { key: [...k("a")], value: [1], versionstamp: first },
        { key: [...k("b")], value: [2], versionstamp: second },
      ]);
    });

    test("reads megabytes at once, in either direction", async (engine) => {
      const value = new Uint8Array(20_000);
      const mutations = Array.from(
        { length: 150 },
        (_, i): StoredMutation => ({ type: "set", key: k("big", i), value }),
      );
      await commit(engine, write(...mutations));
      const keys = mutations.map(({ key }) => [...key]);
      for (const reverse of [false, true]) {
        const entries = await engine.getRange({
          range: keyRange({ prefix: ["big"] }),
          limit: 150,
          reverse,
        });
        const expected = reverse ? keys.toReversed() : keys;
        assert.deepEqual(
          entries.map((entry) => [...entry.key]),
          expected,
        );
        assert.ok(entries.every((entry) => entry.value.length === value.length));
      }
    });

    test("sees one state of the database beside commits", async (engine) => {
      const keys = Array.from({ length: 100 }, (_, i) => k("counter", i));
      const setAll = (n: number): AtomicWrite =>
        write(...keys.map((key): StoredMutation => ({ type: "set", key, value: v(n) })));
      await commit(engine, setAll(0));
      await besideCommits(engine, 100, setAll, async () => {
        const entries = await engine.getRange({
          range: keyRange({ prefix: ["counter"] }),
          limit: 1000,
          reverse: false,
        });
        assertOneState(entries, keys.length);
      });
    });
  });

  describe(`${adapter.name}: commit`, () => {
    test("applies the mutations of a write in their order", async (engine) => {
      await commit(engine, write(set("a", 1), del("a"), set("a", 2), set("b", 1), del("b")));
      assert.deepEqual(await values(engine, "a", "b"), [2, undefined]);
      await commit(engine, write(del("a"), set("a", 3), del("never there")));
      assert.deepEqual(await values(engine, "a", "never there"), [3, undefined]);
    });

    test("gives all keys of a write its versionstamp, and each write a later one", async (engine) => {
      const outcomes = await engine.commit([
        write(set("a", 1), set("b", 1)),
        write(set("c", 1)),
        write(set("d", 1)),
      ]);
      const next = await commit(engine, write(set("e", 1)));
      const stamps = (await engine.getMany([k("a"), k("b"), k("c"), k("d"), k("e")])).map(
        (entry) => entry!.versionstamp,
      );
      assert.deepEqual(stamps, [outcomes[0], ...outcomes, next]);
      assertStrictlyIncreasing([...outcomes, next]);
    });

    test("applies a write where its checks hold, and nothing of it where one does not", async (engine) => {
      const stamp = await commit(engine, write(set("a", 1)));
      const stale = stamp.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
      const refused = [
        [check("a", null)],
        [check("a", stale)],
        [check("b", stamp)],
        [check("a", stamp), check("b", stamp)],
        [check("b", stamp), check("a", stamp)],
      ];
      for (const checks of refused) {
        assert.deepEqual(
          await engine.commit([{ checks, mutations: [set("a", 9), set("c", 9)], sync: true }]),
          [null],
        );
        assert.deepEqual(await values(engine, "a", "c"), [1, undefined]);
      }
      await commit(engine, write([check("a", stamp), check("b", null)], set("a", 2), set("b", 2)));
      assert.deepEqual(await values(engine, "a", "b"), [2, 2]);
    });

    test("looks at the checks of a write before its mutations", async (engine) => {
      await commit(engine, write([check("a", null)], set("a", 1), del("a"), set("a", 2)));
      assert.deepEqual(await values(engine, "a"), [2]);
    });

    test("lets a check see a deletion", async (engine) => {
      const stamp = await commit(engine, write(set("a", 1)));
      await commit(engine, write(del("a")));
      assert.deepEqual(await engine.commit([write([check("a", stamp)], set("a", 2))]), [null]);
      await commit(engine, write([check("a", null)], set("a", 3)));
    });

    test("lets a check see the earlier writes of its group", async (engine) => {
      const stamp = await commit(engine, write(set("old", 1), set("gone", 1)));
      const outcomes = await engine.commit([
        write([check("new", null)], set("new", 1), set("old", 2), del("gone")),
        write([check("new", null)], set("new", 9)),
        write([check("old", stamp)], set("old", 9)),
        write([check("gone", stamp)], set("gone", 9)),
        write([check("gone", null)], set("gone", 2)),
        write([check("gone", null)], set("gone", 9)),
      ]);
      assert.deepEqual(
        outcomes.map((outcome) => typeof outcome),
        ["string", "object", "object", "object", "string", "object"],
      );
      assert.deepEqual(await values(engine, "new", "old", "gone"), [1, 2, 2]);
    });

    test("lets no check see a write that was refused", async (engine) => {
      await commit(engine, write(set("a", 1)));
      const outcomes = await engine.commit([
        write([check("a", null)], set("b", 9)),
        write([check("b", null)], set("b", 1)),
      ]);
      assert.equal(outcomes[0], null);
      assert.equal(typeof outcomes[1], "string");
      assert.deepEqual(await values(engine, "b"), [1]);
    });

    test("tells keys apart that begin alike", async (engine) => {
      const outcomes = await engine.commit([
        write(set("a", 1)),
        write([{ key: k("a", ""), versionstamp: null }], {
          type: "set",
          key: k("a", ""),
          value: v(2),
        }),
        write([{ key: k("a\0"), versionstamp: null }], { type: "set", key: k("a\0"), value: v(3) }),
      ]);
      assert.ok(outcomes.every((outcome) => typeof outcome === "string"));
    });

    test("writes nothing where no write of a group is applied", async (engine, store) => {
      const stamp = await commit(engine, write(set("a", 1)));
      const refused = write([check("a", null)], set("a", 9), set("b", 9));
      assert.deepEqual(await engine.commit([refused, refused]), [null, null]);
      assert.deepEqual(await engine.commit([]), []);
      const reopened = await store.reopen();
      assert.deepEqual(await values(reopened, "a", "b"), [1, undefined]);
      assertStrictlyIncreasing([stamp, await commit(reopened, write(set("a", 2)))]);
    });

    test("gives an empty write a versionstamp of its own", async (engine, store) => {
      const stamps = [await commit(engine, write()), await commit(engine, write())];
      const reopened = await store.reopen();
      stamps.push(await commit(reopened, write()), await commit(reopened, write(set("a", 1))));
      assertStrictlyIncreasing(stamps);
    });

    test("takes a hundred writes at once", async (engine) => {
      const writes = Array.from({ length: 100 }, (_, i) => write(set(`key ${i}`, i)));
      const outcomes = await engine.commit(writes);
      assertStrictlyIncreasing(outcomes);
      const entries = await engine.getMany(writes.map((each) => each.mutations[0]!.key));
      assert.deepEqual(
        entries.map((entry) => entry?.versionstamp),
        outcomes,
      );
    });
  });

  describe(`${adapter.name}: after reopening`, () => {
    test("everything is there", async (engine, store) => {
      const stamp = await commit(engine, write(set("a", 1), set("b", 2), set("c", 3)));
      await commit(engine, write(del("b")));
      await commit(engine, { ...write(set("relaxed", 4)), sync: false });
      const reopened = await store.reopen();
      assert.deepEqual(await values(reopened, "a", "b", "c", "relaxed"), [1, undefined, 3, 4]);
      assert.equal((await reopened.get(k("c")))?.versionstamp, stamp);
    });

    test("versionstamps go on from where they were", async (engine, store) => {
      const stamps: unknown[] = [];
      let open = engine;
      for (let round = 0; round < 4; round++) {
        stamps.push(...(await open.commit([write(set("a", round)), write(del("a"))])));
        stamps.push(await commit(open, write(del("not there"))));
        stamps.push(await commit(open, write()));
        open = await store.reopen();
      }
      assertStrictlyIncreasing(stamps);
    });
  });
}

function k(...parts: KvKey): Uint8Array {
  return encodeKey(parts);
}

function v(...bytes: number[]): Uint8Array {
  return Uint8Array.from(bytes);
}

function set(name: string, number: number): StoredMutation {
  return { type: "set", key: k(name), value: v(number) };
}

function del(name: string): StoredMutation {
  return { type: "delete", key: k(name) };
}

function check(name: string, versionstamp: string | null): AtomicWrite["checks"][number] {
  return { key: k(name), versionstamp };
}

/** An atomic write of mutations, after checks where the first argument is a list of them. */
function write(
  ...parts: [AtomicWrite["checks"], ...StoredMutation[]] | StoredMutation[]
): AtomicWrite {
  const [first, ...rest] = parts;
  if (Array.isArray(first))
    return {
      checks: first as AtomicWrite["checks"],
      mutations: rest as StoredMutation[],
      sync: true,
    };
  return { checks: [], mutations: parts as StoredMutation[], sync: true };
}

/** Commits one write that must be applied. */
async function commit(engine: Engine, write: AtomicWrite): Promise<string> {
  const [outcome] = await engine.commit([write]);
  assert.equal(typeof outcome, "string");
  return outcome as string;
}

function plain(entry: StoredEntry | undefined) {
  return entry && { ...entry, key: [...entry.key], value: [...entry.value] };
}

async function values(engine: Engine, ...names: string[]): Promise<(number | undefined)[]> {
  const entries = await engine.getMany(names.map((name) => k(name)));
  return entries.map((entry) => entry?.value[0]);
}

/** Reads, again and again, while so many commits are written one after another. */
async function besideCommits(
  engine: Engine,
  commits: number,
  writeOf: (n: number) => AtomicWrite,
  read: () => Promise<void>,
): Promise<void> {
  let isWriting = true;
  const writer = (async () => {
    for (let n = 1; n <= commits; n++) await commit(engine, { ...writeOf(n % 250), sync: false });
    isWriting = false;
  })();
  let reads = 0;
  const reader = (async () => {
    for (; isWriting; reads++) {
      await read();
      // Lets the writer have its turn where reads are answered at once.
      await new Promise(setImmediate);
    }
  })();
  await Promise.all([writer, reader]);
  assert.ok(reads > 0);
}

function assertOneState(entries: readonly (StoredEntry | undefined)[], count: number): void {
  assert.equal(entries.length, count);
  assert.equal(new Set(entries.map((entry) => entry?.value[0])).size, 1);
  assert.equal(new Set(entries.map((entry) => entry?.versionstamp)).size, 1);
}

function assertStrictlyIncreasing(stamps: readonly unknown[]): void {
  for (const [index, stamp] of stamps.entries()) {
    assert.match(String(stamp), /^[0-9a-f]{20}$/);
    if (index > 0)
      assert.ok(String(stamps[index - 1]) < String(stamp), `${index}: ${String(stamp)}`);
  }
}
