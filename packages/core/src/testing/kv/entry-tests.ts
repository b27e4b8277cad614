import assert from "node:assert/strict";
import type { KvKey } from "../../keys/key.js";
import { keysOf } from "./collect.js";
import type { KvTestGroup } from "./kv-adapter.js";
import { refuses } from "./refuses.js";

export const entryTests: KvTestGroup = {
  name: "get, set, delete",
  define(test) {
    test("a key that is not there has a value and a versionstamp of null", async ({ kv }) => {
      assert.deepEqual(await kv.get(["a", 1]), { key: ["a", 1], value: null, versionstamp: null });
    });

    test("what was set can be got", async ({ kv }) => {
      const result = await kv.set(["a"], { name: "Ada" });
      assert.equal(result.ok, true);
      assert.match(result.versionstamp, /^[0-9a-f]{20}$/);
      const { versionstamp } = result;
      assert.deepEqual(await kv.get(["a"]), { key: ["a"], value: { name: "Ada" }, versionstamp });
    });

    test("null and undefined are values, which a versionstamp tells from nothing", async ({
      kv,
    }) => {
      await kv.set(["null"], null);
      await kv.set(["undefined"], undefined);
      const [first, second] = await kv.getMany([["null"], ["undefined"]]);
      assert.deepEqual([first.value, second.value], [null, undefined]);
      assert.ok(first.versionstamp !== null && second.versionstamp !== null);
    });

    test("values of every kind come back", async ({ kv, KvU64 }) => {
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

    test("bytes come back as a Uint8Array and nothing more", async ({ kv }) => {
      await kv.set(["bytes"], Uint8Array.of(1, 2));
      await kv.set(["within"], { bytes: Uint8Array.of(1, 2) });
      assert.deepEqual((await kv.get(["bytes"])).value, Uint8Array.of(1, 2));
      assert.deepEqual((await kv.get(["within"])).value, { bytes: Uint8Array.of(1, 2) });
    });

    test("set puts a value in place of another, with a later versionstamp", async ({ kv }) => {
      const first = await kv.set(["a"], 1);
      const second = await kv.set(["a"], 2);
      assert.ok(first.versionstamp < second.versionstamp);
      const { versionstamp } = second;
      assert.deepEqual(await kv.get(["a"]), { key: ["a"], value: 2, versionstamp });
    });

    test("delete removes a key, and does nothing where there is none", async ({ kv }) => {
      await kv.set(["a"], 1);
      await kv.delete(["a"]);
      await kv.delete(["a"]);
      assert.equal((await kv.get(["a"])).versionstamp, null);
    });

    test("keys that look alike are different keys", async ({ kv }) => {
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

    test("0 and -0 are different keys", async ({ kv }) => {
      await kv.set([0], "plus");
      await kv.set([-0], "minus");
      const [plus, minus] = await kv.getMany([[0], [-0]]);
      assert.deepEqual([plus.value, minus.value], ["plus", "minus"]);
      assert.deepEqual(await keysOf(kv.list({ prefix: [] })), [[-0], [0]]);
    });

    test("a value is copied when it is handed over", async ({ kv }) => {
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

    test("a key is copied when it is handed over", async ({ kv }) => {
      const bytes = Uint8Array.of(1);
      const key: (string | Uint8Array)[] = ["a", bytes];
      const set = kv.set(key, "value");
      key[0] = "b";
      bytes[0] = 2;
      await set;
      assert.equal((await kv.get(["a", Uint8Array.of(1)])).value, "value");
      assert.equal((await kv.get(["b", Uint8Array.of(2)])).value, null);
    });

    test("the key of an entry is the one that was asked for, whatever becomes of it", async ({
      kv,
    }) => {
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

    test("either consistency may be asked for", async ({ kv }) => {
      const { versionstamp } = await kv.set(["a"], 1);
      const entry = { key: ["a"], value: 1, versionstamp };
      for (const consistency of ["strong", "eventual"] as const) {
        assert.deepEqual(await kv.get(["a"], { consistency }), entry);
        assert.deepEqual(await kv.getMany([["a"]], { consistency }), [entry]);
      }
    });

    for (const [name, key] of Object.entries(noKeys)) {
      test(`${name} is no key`, async ({ kv }) => {
        await refuses(() => kv.get(key));
        await refuses(() => kv.getMany([["a"], key]));
        await refuses(() => kv.set(key, 1));
        await refuses(() => kv.delete(key));
        await refuses(() => kv.atomic().set(["a"], 1).set(key, 1).commit());
        await refuses(() => kv.atomic().set(["a"], 1).delete(key).commit());
        await refuses(() => kv.atomic().set(["a"], 1).sum(key, 1n).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });

      test(`${name} is no key to check`, async ({ kv }) => {
        const check = { key, versionstamp: null };
        await refuses(() => kv.atomic().set(["a"], 1).check(check).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });
    }

    test("what is no key is refused with a TypeError", async ({ kv }) => {
      for (const key of Object.values(noKeys)) {
        await refuses(() => kv.get(key), TypeError);
        await refuses(() => kv.set(key, 1), TypeError);
        await refuses(() => kv.delete(key), TypeError);
      }
    });

    for (const [name, value] of Object.entries(noValues)) {
      test(`${name} is no value`, async ({ kv }) => {
        await refuses(() => kv.set(["a"], value));
        await refuses(() => kv.atomic().set(["b"], 1).set(["a"], value).commit());
        assert.deepEqual(await keysOf(kv.list({ prefix: [] })), []);
      });
    }

    test("what is no value is refused with a TypeError", async ({ kv }) => {
      for (const value of Object.values(noValues))
        await refuses(() => kv.set(["a"], value), TypeError);
    });

    test("a KvU64 is a value of its own, and no part of another", async ({ kv, KvU64 }) => {
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
