import assert from "node:assert/strict";
import type { KvKey } from "../../keys/key.js";
import { keysOf } from "./collect.js";
import type { KvTestGroup } from "./kv-adapter.js";
import { refuses } from "./refuses.js";

export const entryTests: KvTestGroup = {
  name: "get, set, delete",
  define(test) {
    test("returns null as the value and versionstamp of an absent key", async ({ kv }) => {
      assert.deepEqual(await kv.get(["a", 1]), { key: ["a", 1], value: null, versionstamp: null });
    });

    test("gets what was set", async ({ kv }) => {
      const result = await kv.set(["a"], { name: "Ada" });
      assert.equal(result.ok, true);
      assert.match(result.versionstamp, /^[0-9a-f]{20}$/);
      const { versionstamp } = result;
      assert.deepEqual(await kv.get(["a"]), { key: ["a"], value: { name: "Ada" }, versionstamp });
    });

    test("stores null and undefined, with a versionstamp", async ({ kv }) => {
      await kv.set(["null"], null);
      await kv.set(["undefined"], undefined);
      const [first, second] = await kv.getMany([["null"], ["undefined"]]);
      assert.deepEqual([first.value, second.value], [null, undefined]);
      assert.ok(first.versionstamp !== null && second.versionstamp !== null);
    });

    test("reads back values of every type", async ({ kv, KvU64 }) => {
      const cycle: Record<string, unknown> = {
        map: new Map([["a", new Set([1n])]]),
        date: new Date(5),
      };
      cycle.self = cycle;
      await kv.set(["cycle"], cycle);
      await kv.set(["u64"], new KvU64(7n));
      assert.deepEqual((await kv.get(["cycle"])).value, cycle);
      assert.deepEqual((await kv.get(["u64"])).value, new KvU64(7n));
    });

    test("reads back bytes as a plain Uint8Array", async ({ kv }) => {
      await kv.set(["bytes"], Uint8Array.of(1, 2));
      await kv.set(["within"], { bytes: Uint8Array.of(1, 2) });
      assert.deepEqual((await kv.get(["bytes"])).value, Uint8Array.of(1, 2));
      assert.deepEqual((await kv.get(["within"])).value, { bytes: Uint8Array.of(1, 2) });
    });

    test("set replaces a value, with a later versionstamp", async ({ kv }) => {
      const first = await kv.set(["a"], 1);
      const second = await kv.set(["a"], 2);
      assert.ok(first.versionstamp < second.versionstamp);
      const { versionstamp } = second;
      assert.deepEqual(await kv.get(["a"]), { key: ["a"], value: 2, versionstamp });
    });

    test("delete removes a key, and does nothing if it is absent", async ({ kv }) => {
      await kv.set(["a"], 1);
      await kv.delete(["a"]);
      await kv.delete(["a"]);
      assert.equal((await kv.get(["a"])).versionstamp, null);
    });

    test("distinguishes keys that look alike", async ({ kv }) => {
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

    test("distinguishes 0 and -0 in keys", async ({ kv }) => {
      await kv.set([0], "plus");
      await kv.set([-0], "minus");
      const [plus, minus] = await kv.getMany([[0], [-0]]);
      assert.deepEqual([plus.value, minus.value], ["plus", "minus"]);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [[-0], [0]]);
    });

    test("copies a value when it is passed in", async ({ kv }) => {
      const value = { list: [1], bytes: Uint8Array.of(1) };
      const set = kv.set(["a"], value);
      value.list.push(2);
      value.bytes[0] = 9;
      await set;
      const { value: stored } = await kv.get<typeof value>(["a"]);
      assert.deepEqual(stored, { list: [1], bytes: Uint8Array.of(1) });
      // Each read returns its own copy.
      stored!.list.push(3);
      stored!.bytes[0] = 8;
      assert.deepEqual((await kv.get(["a"])).value, { list: [1], bytes: Uint8Array.of(1) });
    });

    test("copies a key when it is passed in", async ({ kv }) => {
      const bytes = Uint8Array.of(1);
      const key: (string | Uint8Array)[] = ["a", bytes];
      const set = kv.set(key, "value");
      key[0] = "b";
      bytes[0] = 2;
      await set;
      assert.equal((await kv.get(["a", Uint8Array.of(1)])).value, "value");
      assert.equal((await kv.get(["b", Uint8Array.of(2)])).value, null);
    });

    test("returns a copy of the requested key in an entry", async ({ kv }) => {
      const wanted = [["a", Uint8Array.of(1)], ["b"]];
      const one = kv.get(wanted[0]!);
      const many = kv.getMany(wanted);
      wanted[0]![0] = "c";
      wanted.reverse();
      const [entry, entries] = await Promise.all([one, many]);
      assert.deepEqual(entry.key, ["a", Uint8Array.of(1)]);
      assert.deepEqual(
        entries.map(({ key }) => key),
        [["a", Uint8Array.of(1)], ["b"]],
      );
    });

    test("accepts either consistency", async ({ kv }) => {
      const { versionstamp } = await kv.set(["a"], 1);
      const entry = { key: ["a"], value: 1, versionstamp };
      for (const consistency of ["strong", "eventual"] as const) {
        assert.deepEqual(await kv.get(["a"], { consistency }), entry);
        assert.deepEqual(await kv.getMany([["a"]], { consistency }), [entry]);
      }
    });

    for (const [name, key] of Object.entries(noKeys)) {
      test(`refuses ${name} as a key`, async ({ kv }) => {
        await refuses(() => kv.get(key));
        await refuses(() => kv.getMany([["a"], key]));
        await refuses(() => kv.set(key, 1));
        await refuses(() => kv.delete(key));
        await refuses(() => kv.atomic().set(["a"], 1).set(key, 1).commit());
        await refuses(() => kv.atomic().set(["a"], 1).delete(key).commit());
        await refuses(() => kv.atomic().set(["a"], 1).sum(key, 1n).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });

      test(`refuses a check of ${name} as a key`, async ({ kv }) => {
        const check = { key, versionstamp: null };
        await refuses(() => kv.atomic().set(["a"], 1).check(check).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });
    }

    test("refuses an invalid key with a TypeError", async ({ kv }) => {
      for (const key of Object.values(noKeys)) {
        await refuses(() => kv.get(key), TypeError);
        await refuses(() => kv.set(key, 1), TypeError);
        await refuses(() => kv.delete(key), TypeError);
      }
    });

    for (const [name, value] of Object.entries(noValues)) {
      test(`refuses ${name} as a value`, async ({ kv }) => {
        await refuses(() => kv.set(["a"], value));
        await refuses(() => kv.atomic().set(["b"], 1).set(["a"], value).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });
    }

    test("refuses an unsupported value with a TypeError", async ({ kv }) => {
      for (const value of Object.values(noValues))
        await refuses(() => kv.set(["a"], value), TypeError);
    });

    test("refuses a KvU64 inside another value", async ({ kv, KvU64 }) => {
      await refuses(() => kv.set(["a"], [new KvU64(1n)]));
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
    });
  },
};

const noKeys = {
  "an empty array": [],
  "a string": "a",
  "an array with null": [null],
  "an array with undefined": [undefined],
  "an array with a lone surrogate": ["\ud800"],
  "an array with an object": [{}],
  "an array with an array": [["a"]],
  "an array with a symbol": [Symbol("s")],
} as unknown as Record<string, KvKey>;

const noValues: Readonly<Record<string, unknown>> = {
  "a function": () => 1,
  "a function within an object": { f: () => 1 },
  "a symbol": Symbol("s"),
  "a WeakMap": new WeakMap(),
};
