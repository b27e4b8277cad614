import assert from "node:assert/strict";
import type { KvKey } from "../src/keys/key.js";
import type { KvListSelector } from "../src/keys/key-range.js";
import type { Kv, KvEntry, KvListIterator, KvListOptions } from "../src/kv/kv.js";
import { KvU64 } from "../src/values/kv-u64.js";
import type { TestRunner } from "./test-runner.js";

export interface KvStore {
  readonly kv: Kv;
  /** Closes the database, where the test has not done it, and removes what it has stored. */
  dispose(): Promise<void>;
}

export interface KvAdapter {
  readonly name: string;
  /** Opens an empty database. */
  create(): Promise<KvStore>;
}

/** Tests what every database with the `Kv` interface must do. */
export function kvContract({ describe, it }: TestRunner, adapter: KvAdapter): void {
  const test = (name: string, body: (kv: Kv) => Promise<void>) =>
    it(name, async () => {
      const store = await adapter.create();
      try {
        await body(store.kv);
      } finally {
        await store.dispose();
      }
    });

  describe(`${adapter.name}: get, set, delete`, () => {
    test("a key that is not there has a value and a versionstamp of null", async (kv) => {
      assert.deepEqual(await kv.get(["a", 1]), { key: ["a", 1], value: null, versionstamp: null });
    });

    test("what was set can be got", async (kv) => {
      const result = await kv.set(["a"], { name: "Ada" });
      assert.equal(result.ok, true);
      assert.match(result.versionstamp, /^[0-9a-f]{20}$/);
      const { versionstamp } = result;
      assert.deepEqual(await kv.get(["a"]), { key: ["a"], value: { name: "Ada" }, versionstamp });
    });

    test("null and undefined are values, which a versionstamp tells from nothing", async (kv) => {
      await kv.set(["null"], null);
      await kv.set(["undefined"], undefined);
      const [first, second] = await kv.getMany([["null"], ["undefined"]]);
      assert.deepEqual([first.value, second.value], [null, undefined]);
      assert.ok(first.versionstamp !== null && second.versionstamp !== null);
    });

    test("values of every kind come back", async (kv) => {
      const cycle: Record<string, unknown> = {
        map: new Map([["a", new Set([1n])]]),
        date: new Date(5),
      };
      cycle.self = cycle;
      await kv.set(["cycle"], cycle);
      await kv.set(["u64"], new KvU64(7n));
      await kv.set(["bytes"], Uint8Array.of(1, 2));
      assert.deepEqual((await kv.get(["cycle"])).value, cycle);
      assert.deepEqual((await kv.get(["u64"])).value, new KvU64(7n));
      assert.deepEqual((await kv.get(["bytes"])).value, Uint8Array.of(1, 2));
    });

    test("set puts a value in place of another, with a later versionstamp", async (kv) => {
      const first = await kv.set(["a"], 1);
      const second = await kv.set(["a"], 2);
      assert.ok(first.versionstamp < second.versionstamp);
      const { versionstamp } = second;
      assert.deepEqual(await kv.get(["a"]), { key: ["a"], value: 2, versionstamp });
    });

    test("delete removes a key, and does nothing where there is none", async (kv) => {
      await kv.set(["a"], 1);
      await kv.delete(["a"]);
      await kv.delete(["a"]);
      assert.equal((await kv.get(["a"])).versionstamp, null);
    });

    test("keys that look alike are different keys", async (kv) => {
      const keys: KvKey[] = [
        ["1"],
        [1],
        [1n],
        [true],
        [Uint8Array.of(1)],
        ["1", ""],
        ["", "1"],
        ["1\0"],
        [0],
        [-0],
        [0n],
        [false],
      ];
      for (const [index, key] of keys.entries()) await kv.set(key, index);
      for (const [index, key] of keys.entries()) {
        const entry = await kv.get(key);
        assert.equal(entry.value, index);
        assert.deepEqual(entry.key, key);
      }
    });

    test("a value is copied when it is handed over", async (kv) => {
      const value = { list: [1], bytes: Uint8Array.of(1) };
      const set = kv.set(["a"], value);
      value.list.push(2);
      value.bytes[0] = 9;
      await set;
      const { value: stored } = await kv.get<typeof value>(["a"]);
      assert.deepEqual(stored, { list: [1], bytes: Uint8Array.of(1) });
      // What was read is the reader's own.
      stored!.list.push(3);
      stored!.bytes[0] = 8;
      assert.deepEqual((await kv.get(["a"])).value, { list: [1], bytes: Uint8Array.of(1) });
    });

    test("a key is copied when it is handed over", async (kv) => {
      const bytes = Uint8Array.of(1);
      const key: (string | Uint8Array)[] = ["a", bytes];
      const set = kv.set(key, "value");
      key[0] = "b";
      bytes[0] = 2;
      await set;
      assert.equal((await kv.get(["a", Uint8Array.of(1)])).value, "value");
      assert.equal((await kv.get(["b", Uint8Array.of(2)])).value, null);
      const wanted = [["a", Uint8Array.of(1)], ["b"]];
      const one = kv.get(wanted[0]!);
      const many = kv.getMany(wanted);
      wanted[0]![0] = "c";
      wanted.reverse();
      assert.deepEqual((await one).key, ["a", Uint8Array.of(1)]);
      assert.deepEqual(
        (await many).map((entry) => entry.key),
        [["a", Uint8Array.of(1)], ["b"]],
      );
    });

    test("bad keys and values are refused, and nothing is written", async (kv) => {
      const noKeys = [[], "a", [null], ["\ud800"], [{}]] as unknown as KvKey[];
      for (const key of noKeys) {
        await assert.rejects(kv.get(key), { code: "KW_KEY_INVALID" });
        await assert.rejects(kv.getMany([["a"], key]), { code: "KW_KEY_INVALID" });
        await assert.rejects(kv.set(key, 1), { code: "KW_KEY_INVALID" });
        await assert.rejects(kv.delete(key), { code: "KW_KEY_INVALID" });
        assert.throws(() => kv.atomic().set(key, 1), { code: "KW_KEY_INVALID" });
        assert.throws(() => kv.atomic().delete(key), { code: "KW_KEY_INVALID" });
        assert.throws(() => kv.atomic().check({ key, versionstamp: null }), {
          code: "KW_KEY_INVALID",
        });
      }
      await assert.rejects(kv.set(["a"], { f: () => 1 }), {
        code: "KW_VALUE_UNSUPPORTED",
        path: "value.f",
      });
      await assert.rejects(kv.set(["a"], [new KvU64(1n)]), { code: "KW_VALUE_UNSUPPORTED" });
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
    });
  });

  describe(`${adapter.name}: getMany`, () => {
    test("answers in the order of the keys", async (kv) => {
      const { versionstamp } = await kv.set(["a"], 1);
      const entries = await kv.getMany([["b"], ["a"], ["b"], ["a"]]);
      const there = { key: ["a"], value: 1, versionstamp };
      const absent = { key: ["b"], value: null, versionstamp: null };
      assert.deepEqual(entries, [absent, there, absent, there]);
      assert.deepEqual(await kv.getMany([]), []);
    });

    test("never sees half a commit", async (kv) => {
      let isWriting = true;
      const writer = (async () => {
        for (let n = 0; n < 50; n++) await kv.atomic().set(["a"], n).set(["b"], n).commit();
        isWriting = false;
      })();
      while (isWriting) {
        const [a, b] = await kv.getMany<[number, number]>([["a"], ["b"]]);
        assert.equal(a.value, b.value);
        assert.equal(a.versionstamp, b.versionstamp);
        // Lets the writer have its turn where reads are answered at once.
        await new Promise(setImmediate);
      }
      await writer;
    });
  });

  describe(`${adapter.name}: list`, () => {
    /** Twelve keys, of which those under ["b"] and ["b", 2] are most looked for. */
    const sample: KvKey[] = [
      ["a"],
      ["a", 9],
      ["b"],
      ["b", Uint8Array.of(0)],
      ["b", "x"],
      ["b", 1],
      ["b", 2],
      ["b", 2, "p"],
      ["b", 2, "q"],
      ["b", 3n],
      ["b\0"],
      ["c"],
    ];
    const fill = async (kv: Kv) => {
      const atomic = kv.atomic();
      // Last to first: the order is the keys' own.
      for (const key of sample.toReversed()) atomic.set(key, sample.indexOf(key));
      await atomic.commit();
    };
    const indexes = async (iterator: KvListIterator<number>) =>
      (await collect(iterator)).map((entry) => entry.value);

    const selectors: [string, KvListSelector, number[]][] = [
      ["a prefix", { prefix: ["b"] }, [3, 4, 5, 6, 7, 8, 9]],
      ["a longer prefix", { prefix: ["b", 2] }, [7, 8]],
      ["an empty prefix", { prefix: [] }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
      ["a prefix that nothing is under", { prefix: ["c"] }, []],
      ["a prefix that is not there", { prefix: ["zz"] }, []],
      ["a prefix and a start", { prefix: ["b"], start: ["b", 2] }, [6, 7, 8, 9]],
      ["a prefix and a start between keys", { prefix: ["b"], start: ["b", 2, "o"] }, [7, 8, 9]],
      ["a prefix and an end", { prefix: ["b"], end: ["b", 2] }, [3, 4, 5]],
      [
        "a prefix and an end under another key",
        { prefix: ["b"], end: ["b", 2, "q"] },
        [3, 4, 5, 6, 7],
      ],
      ["a start and an end", { start: ["a", 9], end: ["b", 2] }, [1, 2, 3, 4, 5]],
      ["a start and an end across prefixes", { start: ["b", 2, "q"], end: ["c"] }, [8, 9, 10]],
      ["a start that equals its end", { start: ["b"], end: ["b"] }, []],
      ["a start that its end extends", { start: ["b"], end: ["b", "x"] }, [2, 3]],
    ];
    for (const [name, selector, expected] of selectors) {
      test(`${name} selects its entries, in order and in reverse`, async (kv) => {
        await fill(kv);
        for (const batchSize of [undefined, 1, 2, 3, 500]) {
          const options: KvListOptions = batchSize === undefined ? {} : { batchSize };
          assert.deepEqual(await indexes(kv.list(selector, options)), expected);
          assert.deepEqual(
            await indexes(kv.list(selector, { ...options, reverse: true })),
            expected.toReversed(),
          );
        }
      });

      test(`${name}: a cursor resumes behind each entry, in either direction`, async (kv) => {
        await fill(kv);
        for (const reverse of [false, true]) {
          const inOrder = reverse ? expected.toReversed() : expected;
          const iterator = kv.list<number>(selector, { reverse, batchSize: 2 });
          assert.equal(iterator.cursor, "");
          for (let seen = 1; seen <= inOrder.length; seen++) {
            assert.equal((await iterator.next()).value?.value, inOrder[seen - 1]);
            const cursor: string = iterator.cursor;
            assert.notEqual(cursor, "");
            const rest = kv.list<number>(selector, { reverse, cursor });
            assert.equal(rest.cursor, cursor);
            assert.deepEqual(await indexes(rest), inOrder.slice(seen));
          }
        }
      });
    }

    test("entries have key, value and versionstamp", async (kv) => {
      const { versionstamp } = await kv.set(["a", 1n, Uint8Array.of(2)], { n: 1 });
      assert.deepEqual(await collect(kv.list({ prefix: ["a"] })), [
        { key: ["a", 1n, Uint8Array.of(2)], value: { n: 1 }, versionstamp },
      ]);
    });

    test("limit is the number of entries at the most", async (kv) => {
      await fill(kv);
      for (const limit of [1, 2, 3, 7, 8, 1000]) {
        for (const batchSize of [1, 2, 100]) {
          const selector = { prefix: ["b"] };
          const expected = [3, 4, 5, 6, 7, 8, 9];
          assert.deepEqual(
            await indexes(kv.list(selector, { limit, batchSize })),
            expected.slice(0, limit),
          );
          assert.deepEqual(
            await indexes(kv.list(selector, { limit, batchSize, reverse: true })),
            expected.toReversed().slice(0, limit),
          );
        }
      }
    });

    test("pages by cursor and limit are all entries once, beside inserts and deletions", async (kv) => {
      for (let n = 0; n < 20; n += 2) await kv.set(["n", n], n);
      const seen: number[] = [];
      let cursor = "";
      for (let page = 0; page < 100; page++) {
        const iterator = kv.list<number>({ prefix: ["n"] }, { limit: 3, cursor });
        const numbers = await indexes(iterator);
        if (numbers.length === 0) break;
        seen.push(...numbers);
        cursor = iterator.cursor;
        const last = numbers.at(-1)!;
        // Behind the cursor, at it, and in front of it.
        await kv.set(["n", last - 1], last - 1);
        await kv.delete(["n", last]);
        if (page === 0) await kv.set(["n", last + 1], last + 1);
      }
      assert.deepEqual(seen, [0, 2, 4, 5, 6, 8, 10, 12, 14, 16, 18]);
    });

    test("a cursor from outside the selector's range is refused", async (kv) => {
      await fill(kv);
      const cursorOf = async (selector: KvListSelector) => {
        const iterator = kv.list(selector);
        await iterator.next();
        return iterator.cursor;
      };
      const refused: [KvListSelector, string][] = [
        [{ start: ["b", 1], end: ["b", 3n] }, await cursorOf({ start: ["b"], end: ["b", 3n] })],
        [{ prefix: ["b"], start: ["b", 2] }, await cursorOf({ prefix: ["b"] })],
        [{ prefix: ["b"], end: ["b", 1] }, await cursorOf({ prefix: ["b"], start: ["b", 2] })],
        [{ prefix: ["b"] }, "not base64!"],
        [{ prefix: ["b"] }, "AA=="],
        [{ prefix: ["b"] }, "A"],
        [{ prefix: ["b"] }, Buffer.from([0x02]).toString("base64url")],
        [{ prefix: ["b"] }, Buffer.from([0xff]).toString("base64url")],
      ];
      for (const [selector, cursor] of refused)
        assert.throws(() => kv.list(selector, { cursor }), { code: "KW_SELECTOR_INVALID" }, cursor);
    });

    test("selectors and options that are not valid are refused", async (kv) => {
      const selectors: unknown[] = [
        undefined,
        null,
        {},
        [],
        "a",
        { start: ["a"] },
        { end: ["a"] },
        { prefix: ["a"], start: ["a", 1], end: ["a", 2] },
        { prefix: ["a"], start: ["b"] },
        { prefix: ["a"], end: ["b"] },
        { prefix: ["a"], start: ["a"] },
        { start: ["b"], end: ["a"] },
      ];
      for (const selector of selectors)
        assert.throws(() => kv.list(selector as KvListSelector), { code: "KW_SELECTOR_INVALID" });
      const options: unknown[] = [
        { limit: 0 },
        { limit: -1 },
        { limit: 1.5 },
        { limit: Number.NaN },
        { limit: "1" },
        { batchSize: 0 },
        { batchSize: -1 },
        { batchSize: 1.5 },
        { cursor: 5 },
      ];
      for (const option of options) {
        assert.throws(() => kv.list({ prefix: [] }, option as KvListOptions), {
          code: "KW_SELECTOR_INVALID",
        });
      }
      assert.throws(() => kv.list({ prefix: ["\ud800"] }), { code: "KW_KEY_INVALID" });
    });

    test("an iterator is done for good, and can be left anywhere", async (kv) => {
      await fill(kv);
      const finished = kv.list({ prefix: ["b", 2] });
      await collect(finished);
      assert.deepEqual(await finished.next(), { done: true, value: undefined });
      const left = kv.list<number>({ prefix: ["b"] }, { batchSize: 3 });
      for await (const entry of left) if (entry.value === 4) break;
      assert.deepEqual(await left.next(), { done: true, value: undefined });
      const never = kv.list({ prefix: ["b"] });
      await never.return?.();
      assert.deepEqual(await never.next(), { done: true, value: undefined });
      const forgotten = kv.list<number>({ prefix: ["b"] }, { batchSize: 2 });
      assert.equal((await forgotten.next()).value?.value, 3);
      await kv.set(["b", 1], "written while it is open");
    });

    test("calls of next that overlap are answered in their order, each with another entry", async (kv) => {
      await fill(kv);
      for (const batchSize of [1, 2, 3, 100]) {
        const iterator = kv.list<number>({ prefix: ["b"] }, { batchSize });
        const answers: Promise<IteratorResult<KvEntry<number>>>[] = [];
        for (let call = 0; call < 10; call++) {
          answers.push(iterator.next());
          // Some calls come while an earlier one is just about to be answered.
          for (let turn = 0; turn < call; turn++) await Promise.resolve();
        }
        const results = await Promise.all(answers);
        assert.deepEqual(
          results.map((result) => result.value?.value),
          [3, 4, 5, 6, 7, 8, 9, undefined, undefined, undefined],
        );
      }
    });

    test("calls of next before a return are answered, and none after it", async (kv) => {
      await fill(kv);
      const iterator = kv.list<number>({ prefix: ["b"] }, { batchSize: 2 });
      const calls = [iterator.next(), iterator.next(), iterator.return!(), iterator.next()];
      const results = await Promise.all(calls);
      assert.deepEqual(
        results.map((result) => result.value?.value),
        [3, 4, undefined, undefined],
      );
    });

    test("each batch is read when it is needed", async (kv) => {
      for (let n = 0; n < 6; n++) await kv.set(["n", n], n);
      const iterator = kv.list<number>({ prefix: ["n"] }, { batchSize: 2 });
      assert.equal((await iterator.next()).value?.value, 0);
      await kv.delete(["n", 1]);
      await kv.delete(["n", 2]);
      await kv.set(["n", 3.5], 3.5);
      assert.deepEqual(await indexes(iterator), [1, 3, 3.5, 4, 5]);
    });

    test("a batch is as large as the limit, or 100, and never larger than 500", async (kv) => {
      const atomic = kv.atomic();
      for (let n = 0; n < 600; n++) atomic.set(["n", n], n);
      await atomic.commit();
      const sizes: [KvListOptions, number][] = [
        [{}, 100],
        [{ limit: 300 }, 300],
        [{ limit: 300, batchSize: 40 }, 40],
        [{ batchSize: 1000 }, 500],
        [{ limit: 599 }, 500],
      ];
      for (const [options, size] of sizes) {
        const iterator = kv.list<number>({ prefix: ["n"] }, options);
        await iterator.next();
        // What has been read already is still answered.
        await kv
          .atomic()
          .delete(["n", size - 1])
          .delete(["n", size])
          .commit();
        const rest = new Set(await indexes(iterator));
        assert.deepEqual([rest.has(size - 1), rest.has(size)], [true, false]);
        await kv
          .atomic()
          .set(["n", size - 1], size - 1)
          .set(["n", size], size)
          .commit();
      }
    });

    test("a thousand entries come in order", async (kv) => {
      const atomic = kv.atomic();
      for (let n = 999; n >= 0; n--) atomic.set(["n", n], n);
      await atomic.commit();
      const numbers = Array.from({ length: 1000 }, (_, n) => n);
      assert.deepEqual(await indexes(kv.list({ prefix: ["n"] })), numbers);
      assert.deepEqual(
        await indexes(kv.list({ prefix: ["n"] }, { reverse: true, batchSize: 500 })),
        numbers.toReversed(),
      );
    });
  });

  describe(`${adapter.name}: atomic`, () => {
    test("applies all of its mutations in order, with one versionstamp", async (kv) => {
      await kv.set(["gone"], 1);
      const result = await kv
        .atomic()
        .set(["a"], 1)
        .set(["b"], 1)
        .delete(["gone"])
        .set(["a"], 2)
        .set(["c"], 1)
        .delete(["c"])
        .commit();
      assert.ok(result.ok);
      const { versionstamp } = result;
      assert.deepEqual(await collect(kv.list({ prefix: [] })), [
        { key: ["a"], value: 2, versionstamp },
        { key: ["b"], value: 1, versionstamp },
      ]);
    });

    test("writes where its checks hold, and nothing where one fails", async (kv) => {
      const absent = await kv.get(["a"]);
      assert.equal((await kv.atomic().check(absent).set(["a"], 1).commit()).ok, true);
      const present = await kv.get(["a"]);
      for (const checks of [[absent], [present, absent], [absent, present]]) {
        const result = await kv
          .atomic()
          .check(...checks)
          .set(["a"], 9)
          .set(["b"], 9)
          .delete(["a"])
          .commit();
        assert.deepEqual(result, { ok: false });
      }
      const chained = await kv.atomic().check(present).check(absent).set(["b"], 9).commit();
      assert.deepEqual(chained, { ok: false });
      assert.deepEqual(await collect(kv.list({ prefix: [] })), [present]);
      const other = { key: ["b"], versionstamp: null };
      assert.equal((await kv.atomic().check(present, other).set(["a"], 2).commit()).ok, true);
      assert.equal((await kv.get(["a"])).value, 2);
    });

    test("refuses a versionstamp that is none, and keeps no check of that call", async (kv) => {
      await kv.set(["a"], 1);
      const atomic = kv.atomic().set(["b"], 2);
      for (const versionstamp of [
        "",
        "1",
        "0000000000000000000A",
        undefined,
        1,
        `${"0".repeat(20)}\n`,
      ]) {
        const check = { key: ["a"], versionstamp: versionstamp as string };
        assert.throws(() => atomic.check({ key: ["a"], versionstamp: null }, check), {
          code: "KW_VERSIONSTAMP_INVALID",
        });
      }
      assert.equal((await atomic.commit()).ok, true);
    });

    test("without mutations still checks, and gets a versionstamp", async (kv) => {
      const first = await kv.atomic().commit();
      const { versionstamp } = await kv.set(["a"], 1);
      const second = await kv
        .atomic()
        .check({ key: ["a"], versionstamp })
        .commit();
      assert.ok(first.ok && second.ok);
      assert.ok(first.versionstamp < versionstamp && versionstamp < second.versionstamp);
      const failed = await kv
        .atomic()
        .check({ key: ["a"], versionstamp: null })
        .commit();
      assert.deepEqual(failed, { ok: false });
    });

    test("copies its values when they are handed over", async (kv) => {
      const value = { n: 1 };
      const atomic = kv.atomic().set(["a"], value);
      value.n = 2;
      await atomic.commit();
      assert.deepEqual((await kv.get(["a"])).value, { n: 1 });
    });

    test("commits what it had when commit was called", async (kv) => {
      const atomic = kv.atomic().set(["a"], 1);
      const commit = atomic.commit();
      atomic.set(["late"], 1).check({ key: ["a"], versionstamp: "0".repeat(20) });
      assert.equal((await commit).ok, true);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [["a"]]);
    });

    test("does nothing before it is committed", async (kv) => {
      kv.atomic().set(["a"], 1);
      assert.equal((await kv.get(["a"])).versionstamp, null);
    });

    test("of 64 at once on one counter, by check and set, none is lost", async (kv) => {
      const increment = async () => {
        // Each time that one fails another has succeeded.
        for (let attempt = 0; attempt < 64; attempt++) {
          const counter = await kv.get<number>(["counter"]);
          const next = (counter.value ?? 0) + 1;
          const { ok } = await kv.atomic().check(counter).set(["counter"], next).commit();
          if (ok) return;
        }
        assert.fail("it failed more often than others succeeded");
      };
      await Promise.all(Array.from({ length: 64 }, increment));
      assert.equal((await kv.get(["counter"])).value, 64);
    });

    test("of 64 at once that all want the same key, one gets it", async (kv) => {
      const claims = Array.from({ length: 64 }, async (_, n) => {
        const claim = kv
          .atomic()
          .check({ key: ["claim"], versionstamp: null })
          .set(["claim"], n);
        return (await claim.commit()).ok;
      });
      const winners = (await Promise.all(claims)).flatMap((ok, n) => (ok ? [n] : []));
      assert.equal(winners.length, 1);
      assert.equal((await kv.get(["claim"])).value, winners[0]);
    });
  });

  describe(`${adapter.name}: close`, () => {
    test("waits for the commits that were begun", async (kv) => {
      const events: string[] = [];
      const commits = Array.from({ length: 20 }, async (_, n) => {
        const result = await kv.set(["n", n], n);
        events.push("commit");
        return result;
      });
      await kv.close();
      events.push("closed");
      for (const result of await Promise.all(commits)) assert.equal(result.ok, true);
      assert.equal(events.indexOf("closed"), 20);
    });

    test("refuses everything that comes after it", async (kv) => {
      await kv.set(["a"], 1);
      await kv.set(["b"], 1);
      const atomic = kv.atomic().set(["a"], 2);
      const unread = kv.list({ prefix: [] });
      const halfRead = kv.list({ prefix: [] });
      await halfRead.next();
      await kv.close();
      const closed = { code: "KW_DATABASE_CLOSED" };
      await assert.rejects(kv.get(["a"]), closed);
      await assert.rejects(kv.getMany([["a"]]), closed);
      await assert.rejects(kv.set(["a"], 2), closed);
      await assert.rejects(kv.delete(["a"]), closed);
      await assert.rejects(atomic.commit(), closed);
      await assert.rejects(unread.next(), closed);
      await assert.rejects(halfRead.next(), closed);
      assert.throws(() => kv.list({ prefix: [] }), closed);
      assert.throws(() => kv.atomic(), closed);
    });

    test("may be called again", async (kv) => {
      await Promise.all([kv.close(), kv.close()]);
      await kv.close();
    });
  });
}

async function collect<T>(iterator: KvListIterator<T>): Promise<KvEntry<T>[]> {
  const entries: KvEntry<T>[] = [];
  for await (const entry of iterator) {
    entries.push(entry);
    assert.ok(entries.length <= 10_000, "it does not end");
  }
  return entries;
}

async function keysOf(iterator: KvListIterator<unknown>): Promise<KvKey[]> {
  return (await collect(iterator)).map((entry) => entry.key);
}
