import assert from "node:assert/strict";
import type { Engine, StoredMutation } from "../../engine/engine.js";
import { keyRange } from "../../keys/key-range.js";
import { decodeValue } from "../../values/decode-value.js";
import { KvU64 } from "../../values/kv-u64.js";
import { until } from "../soon.js";
import type { EngineTestGroup } from "./engine-adapter.js";
import { check, commit, k, set, v, values, write } from "./writes.js";

const hour = 3_600_000;

export const expiryTests: EngineTestGroup = {
  name: "expireAt",
  define(test) {
    test("is returned with an entry that expires", async ({ engine, reopen }) => {
      const time = Date.now() + hour;
      await commit(engine, write(expiring("a", 1, time), set("b", 2)));
      for (const open of [engine, await reopen()]) {
        const [a, b] = await open.getMany([k("a"), k("b")]);
        assert.deepEqual([a?.value[0], a?.expireAt], [1, time]);
        assert.deepEqual([b?.value[0], b?.expireAt], [2, undefined]);
        assert.equal((await open.get(k("a")))?.expireAt, time);
        const entries = await everything(open);
        assert.deepEqual(
          entries.map((entry) => entry.expireAt),
          [time, undefined],
        );
      }
    });

    test("is the time from which the entry is absent", async ({ engine, reopen }) => {
      const time = Date.now() + 60;
      await commit(
        engine,
        write(expiring("a", 1, time), set("b", 2), expiring("c", 3, time + hour)),
      );
      await until(time);
      for (const open of [engine, await reopen()]) {
        assert.equal(await open.get(k("a")), undefined);
        assert.deepEqual(await values(open, "a", "b", "c"), [undefined, 2, 3]);
        assert.deepEqual(
          (await everything(open)).map((entry) => entry.value[0]),
          [2, 3],
        );
      }
    });

    test("in the past makes an entry absent at once", async ({ engine }) => {
      await commit(engine, write(set("a", 1), expiring("a", 2, Date.now() - 1)));
      assert.deepEqual(await values(engine, "a"), [undefined]);
      await commit(engine, write([check("a", null)], set("a", 3)));
      assert.deepEqual(await values(engine, "a"), [3]);
    });

    test("expired entries do not count toward the limit of a range", async ({ engine }) => {
      const past = Date.now() - 1;
      await commit(
        engine,
        write(
          expiring("a", 1, past),
          set("b", 2),
          expiring("c", 3, past),
          expiring("d", 4, past),
          set("e", 5),
          expiring("f", 6, past),
        ),
      );
      const range = keyRange({ prefix: [] });
      for (const limit of [1, 2, 3, 10]) {
        const read = async (reverse: boolean) =>
          (await engine.getRange({ range, limit, reverse })).map((entry) => entry.value[0]);
        assert.deepEqual(await read(false), [2, 5].slice(0, limit));
        assert.deepEqual(await read(true), [5, 2].slice(0, limit));
      }
    });

    test("an expired entry is absent for a check, also within its group", async ({ engine }) => {
      const stamp = await commit(engine, write(expiring("a", 1, Date.now() - 1)));
      const outcomes = await engine.commit([
        write([check("a", stamp)], set("b", 9)),
        write([check("a", null)], expiring("a", 2, Date.now() - 1)),
        write([check("a", null)], set("b", 1)),
      ]);
      assert.deepEqual(
        outcomes.map((outcome) => typeof outcome),
        ["object", "string", "string"],
      );
      assert.deepEqual(await values(engine, "a", "b"), [undefined, 1]);
    });

    test("a sum of an expired entry begins at 0 and does not expire", async ({ engine }) => {
      const sum: StoredMutation = { type: "sum", key: k("a"), operand: 5n };
      await commit(engine, write(expiring("a", 1, Date.now() - 1)));
      await commit(engine, write(sum));
      const entry = await engine.get(k("a"));
      assert.deepEqual(decodeValue(entry!.value), new KvU64(5n));
      assert.equal(entry?.expireAt, undefined);
    });

    test("a later set replaces or removes it", async ({ engine }) => {
      const time = Date.now() + hour;
      await commit(engine, write(expiring("a", 1, time), expiring("b", 1, time)));
      await commit(engine, write(expiring("a", 2, time + 1), set("b", 2)));
      const entries = await engine.getMany([k("a"), k("b")]);
      assert.deepEqual(
        entries.map((entry) => entry?.expireAt),
        [time + 1, undefined],
      );
    });

    test("deleteExpired removes only expired entries", async ({ engine, reopen }) => {
      const past = Date.now() - 1;
      const deleteExpired = (name: string): StoredMutation => ({
        type: "deleteExpired",
        key: k(name),
      });
      await commit(
        engine,
        write(expiring("a", 1, past), set("b", 2), expiring("c", 3, past + hour)),
      );
      const sweep = write(...["a", "b", "c", "never there"].map(deleteExpired));
      await commit(engine, sweep);
      assert.deepEqual(await values(engine, "a", "b", "c", "never there"), [
        undefined,
        2,
        3,
        undefined,
      ]);
      // deleteExpired also sees earlier mutations of its write and earlier writes of its group.
      await commit(engine, write(set("a", 4), deleteExpired("a"), expiring("b", 5, past)));
      await engine.commit([write(deleteExpired("b"), set("b", 6)), write(deleteExpired("b"))]);
      assert.deepEqual(await values(await reopen(), "a", "b", "c"), [4, 6, 3]);
    });
  },
};

function expiring(name: string, number: number, expireAt: number): StoredMutation {
  return { type: "set", key: k(name), value: v(number), expireAt };
}

function everything(engine: Engine) {
  return engine.getRange({ range: keyRange({ prefix: [] }), limit: 100, reverse: false });
}
