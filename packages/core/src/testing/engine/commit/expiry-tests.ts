import assert from "node:assert/strict";
import type { StoredMutation } from "../../../engine/engine.js";
import { keyRange } from "../../../keys/key-range.js";
import { decodeValue } from "../../../values/decode-value.js";
import { KvU64 } from "../../../values/kv-u64.js";
import { until } from "../../soon.js";
import type { EngineTestGroup } from "../engine-adapter.js";
import {
  applied,
  check,
  combine,
  commit,
  deleteExpired,
  firstBytes,
  k,
  list,
  set,
  values,
  write,
} from "../writes.js";

const hour = 3_600_000;

function expiring(name: string, number: number, expireAt: number): StoredMutation {
  return set(name, number, { expireAt });
}

export const expiryTests: EngineTestGroup = {
  name: "expireAt",
  define(test) {
    test("is returned with an entry that expires", async ({ engine, reopen }) => {
      const time = Date.now() + hour;
      await commit(engine, write(expiring("a", 1, time), set("b", 2)));
      for (const next of [async () => engine, reopen]) {
        const open = await next();
        assert.deepEqual(await values(open, "a", "b"), [1, 2]);
        assert.equal((await open.get(k("a")))?.expireAt, time);
        for (const entries of [await open.getMany([k("a"), k("b")]), await list(open)]) {
          assert.deepEqual([entries[0]?.expireAt, entries[1]?.expireAt], [time, undefined]);
        }
      }
    });

    test("is the time from which the entry is absent", async ({ engine, reopen }) => {
      const time = Date.now() + 60;
      const later = expiring("c", 3, time + hour);
      await commit(engine, write(expiring("a", 1, time), set("b", 2), later));
      await until(time);
      for (const next of [async () => engine, reopen]) {
        const open = await next();
        assert.equal(await open.get(k("a")), undefined);
        assert.deepEqual(await values(open, "a", "b", "c"), [undefined, 2, 3]);
        assert.deepEqual(firstBytes(await list(open)), [2, 3]);
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
      const expired = ["a", "c", "d", "f"].map((name) => expiring(name, 1, past));
      await commit(engine, write(...expired, set("b", 2), set("e", 5)));
      const range = keyRange({ prefix: [] });
      for (const limit of [1, 2, 3, 10]) {
        const forward = firstBytes(await list(engine, range, limit));
        assert.deepEqual(forward, [2, 5].slice(0, limit));
        const backward = firstBytes(await list(engine, range, limit, true));
        assert.deepEqual(backward, [5, 2].slice(0, limit));
      }
    });

    test("an expired entry is absent for a check, also within its group", async ({ engine }) => {
      const stamp = await commit(engine, write(expiring("a", 1, Date.now() - 1)));
      const areApplied = await applied(
        engine,
        write([check("a", stamp)], set("b", 9)),
        write([check("a", null)], expiring("a", 2, Date.now() - 1)),
        write([check("a", null)], set("b", 1)),
      );
      assert.deepEqual(areApplied, [false, true, true]);
      assert.deepEqual(await values(engine, "a", "b"), [undefined, 1]);
    });

    test("a sum of an expired entry begins at 0 and does not expire", async ({ engine }) => {
      await commit(engine, write(expiring("a", 1, Date.now() - 1)));
      await commit(engine, write(combine("sum", "a", 5n)));
      const entry = await engine.get(k("a"));
      assert.deepEqual(decodeValue(entry!.value), new KvU64(5n));
      assert.equal(entry?.expireAt, undefined);
    });

    test("a later set replaces or removes it", async ({ engine }) => {
      const time = Date.now() + hour;
      await commit(engine, write(expiring("a", 1, time), expiring("b", 1, time)));
      await commit(engine, write(expiring("a", 2, time + 1), set("b", 2)));
      const [a, b] = await engine.getMany([k("a"), k("b")]);
      assert.deepEqual([a?.expireAt, b?.expireAt], [time + 1, undefined]);
    });

    test("deleteExpired removes only expired entries", async ({ engine, reopen }) => {
      const past = Date.now() - 1;
      const entries = [expiring("a", 1, past), set("b", 2), expiring("c", 3, past + hour)];
      await commit(engine, write(...entries));
      const names = ["a", "b", "c", "absent"];
      await commit(engine, write(...names.map(deleteExpired)));
      assert.deepEqual(await values(engine, ...names), [undefined, 2, 3, undefined]);
      // deleteExpired also sees earlier mutations of its write and earlier writes of its group.
      await commit(engine, write(set("a", 4), deleteExpired("a"), expiring("b", 5, past)));
      await engine.commit([write(deleteExpired("b"), set("b", 6)), write(deleteExpired("b"))]);
      assert.deepEqual(await values(await reopen(), "a", "b", "c"), [4, 6, 3]);
    });
  },
};
