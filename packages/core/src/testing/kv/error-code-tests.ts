import assert from "node:assert/strict";
import type { KvKey } from "../../keys/key.js";
import type { KvListSelector } from "../../keys/key-range.js";
import type { KvListOptions } from "../../kv/kv.js";
import type { KvTestGroup } from "./kv-adapter.js";

export const errorCodeTests: KvTestGroup = {
  name: "error codes",
  define(test) {
    test("KW_KEY_INVALID", async ({ kv }) => {
      const code = { code: "KW_KEY_INVALID" };
      for (const key of [[], "a", [null], ["\ud800"]] as unknown as KvKey[]) {
        await assert.rejects(kv.get(key), code);
        await assert.rejects(kv.getMany([["a"], key]), code);
        await assert.rejects(kv.set(key, 1), code);
        await assert.rejects(kv.delete(key), code);
        assert.throws(() => kv.atomic().set(key, 1), code);
        assert.throws(() => kv.atomic().delete(key), code);
        assert.throws(() => kv.atomic().sum(key, 1n), code);
        assert.throws(() => kv.atomic().check({ key, versionstamp: null }), code);
        assert.throws(() => kv.watch([key]), code);
      }
      assert.throws(() => kv.list({ prefix: ["\ud800"] }), code);
    });

    test("KW_VALUE_UNSUPPORTED, with the path to the part", async ({ kv, KvU64 }) => {
      const f = { code: "KW_VALUE_UNSUPPORTED", path: "value.f" };
      await assert.rejects(kv.set(["a"], { f: () => 1 }), f);
      await assert.rejects(kv.enqueue({ f: () => 1 }), f);
      const element = { code: "KW_VALUE_UNSUPPORTED", path: "value[0]" };
      await assert.rejects(kv.set(["a"], [new KvU64(1n)]), element);
    });

    test("KW_VERSIONSTAMP_INVALID", async ({ kv }) => {
      const check = { key: ["a"], versionstamp: "1" };
      assert.throws(() => kv.atomic().check(check), { code: "KW_VERSIONSTAMP_INVALID" });
    });

    test("KW_SELECTOR_INVALID", async ({ kv }) => {
      const code = { code: "KW_SELECTOR_INVALID" };
      assert.throws(() => kv.list({ start: ["a"] } as unknown as KvListSelector), code);
      for (const option of [{ limit: 0 }, { batchSize: 0 }, { cursor: "A" }, { cursor: 5 }])
        assert.throws(() => kv.list({ prefix: ["b"] }, option as KvListOptions), code);
    });

    test("KW_VALUE_NOT_U64, with the operation", async ({ kv }) => {
      await kv.set(["a"], 1);
      for (const operation of ["sum", "min", "max"] as const) {
        const commit = kv.atomic()[operation](["a"], 1n).commit();
        await assert.rejects(commit, { code: "KW_VALUE_NOT_U64", operation });
      }
    });

    test("KW_OPTION_INVALID, with the name of the option", async ({ kv }) => {
      const code = "KW_OPTION_INVALID";
      const expireIn = { code, option: "expireIn" };
      await assert.rejects(kv.set(["a"], 1, { expireIn: -1 }), expireIn);
      await assert.rejects(kv.enqueue(1, { delay: -1 }), { code, option: "delay" });
    });

    test("KW_COMMIT_MISSING", async ({ kv }) => {
      const awaited = async () => await (kv.atomic() as unknown);
      await assert.rejects(awaited(), { code: "KW_COMMIT_MISSING" });
    });

    test("KW_DATABASE_CLOSED", async ({ kv }) => {
      await kv.set(["a"], 1);
      const atomic = kv.atomic();
      const iterator = kv.list({ prefix: [] });
      await kv.close();
      const code = { code: "KW_DATABASE_CLOSED" };
      await assert.rejects(kv.get(["a"]), code);
      await assert.rejects(kv.getMany([["a"]]), code);
      await assert.rejects(kv.set(["a"], 2), code);
      await assert.rejects(kv.delete(["a"]), code);
      await assert.rejects(kv.enqueue(1), code);
      await assert.rejects(
        kv.listenQueue(() => undefined),
        code,
      );
      await assert.rejects(atomic.commit(), code);
      await assert.rejects(iterator.next(), code);
      assert.throws(() => kv.list({ prefix: [] }), code);
      assert.throws(() => kv.atomic(), code);
      assert.throws(() => kv.watch([["a"]]), code);
    });
  },
};
