import assert from "node:assert/strict";
import type { Engine, StoredMutation } from "../../engine/engine.js";
import { decodeValue } from "../../values/decode-value.js";
import { encodeValue } from "../../values/encode-value.js";
import { KvU64 } from "../../values/kv-u64.js";
import type { EngineTestGroup } from "./engine-adapter.js";
import { check, commit, del, k, plain, set, v, values, write } from "./writes.js";

const largest = (1n << 64n) - 1n;

export const mutationTests: EngineTestGroup = {
  name: "sum, min, max and versionstamps in keys",
  define(test) {
    test("sum, min and max store their operand if the key is absent", async ({ engine }) => {
      await commit(engine, write(sum("a", 5n), min("b", 6n), max("c", largest)));
      assert.deepEqual(await numbers(engine, "a", "b", "c"), [5n, 6n, largest]);
    });

    test("sum, min and max combine their operand with the stored number", async ({ engine }) => {
      const ten = encodeValue(new KvU64(10n));
      const tens = ["a", "b", "c"].map(
        (name): StoredMutation => ({ type: "set", key: k(name), value: ten }),
      );
      await commit(engine, write(...tens));
      await commit(engine, write(sum("a", 3n), min("b", 3n), max("c", 3n)));
      assert.deepEqual(await numbers(engine, "a", "b", "c"), [13n, 3n, 10n]);
      await commit(engine, write(sum("a", largest), min("b", largest), max("c", largest)));
      assert.deepEqual(await numbers(engine, "a", "b", "c"), [12n, 3n, largest]);
    });

    test("sum, min and max give their key the versionstamp of the write", async ({ engine }) => {
      await commit(engine, write(sum("a", 1n)));
      const stamp = await commit(engine, write(sum("a", 1n), max("b", 1n)));
      const entries = await engine.getMany([k("a"), k("b")]);
      assert.deepEqual(
        entries.map((entry) => entry?.versionstamp),
        [stamp, stamp],
      );
    });

    test("sum, min and max see the earlier changes of their group", async ({ engine }) => {
      await commit(engine, write(sum("a", 100n)));
      const outcomes = await engine.commit([
        write(sum("a", 1n), sum("a", 2n)),
        write([check("a", null)], sum("a", 1000n)),
        write(del("a"), sum("a", 4n)),
        write(sum("a", 8n), max("b", 3n), min("b", 2n)),
      ]);
      assert.deepEqual(
        outcomes.map((outcome) => typeof outcome),
        ["string", "object", "string", "string"],
      );
      assert.deepEqual(await numbers(engine, "a", "b"), [12n, 2n]);
    });

    test("a stored value that is no KvU64 fails only its own write", async ({ engine }) => {
      const text: StoredMutation = { type: "set", key: k("text"), value: encodeValue("text") };
      await commit(engine, write(text));
      for (const mutation of [sum("text", 1n), min("text", 1n), max("text", 1n)]) {
        const outcomes = await engine.commit([
          write(sum("a", 1n)),
          write(set("b", 1), sum("a", 10n), set("text", 9), text, mutation),
          write([check("b", null)], sum("a", 100n)),
        ]);
        assert.ok(outcomes[1] instanceof TypeError);
        assert.deepEqual([typeof outcomes[0], typeof outcomes[2]], ["string", "string"]);
      }
      assert.deepEqual(await numbers(engine, "a"), [303n]);
      assert.deepEqual(await values(engine, "b"), [undefined]);
      assert.deepEqual(plain(await engine.get(k("text")))?.value, [...text.value]);
    });

    test("a group whose only write fails writes nothing", async ({ engine, reopen }) => {
      const stamp = await commit(
        engine,
        write({ type: "set", key: k("a"), value: encodeValue(1) }),
      );
      const [outcome] = await engine.commit([write(set("b", 1), sum("a", 1n))]);
      assert.ok(outcome instanceof TypeError);
      const reopened = await reopen();
      assert.equal((await reopened.get(k("a")))?.versionstamp, stamp);
      assert.equal(await reopened.get(k("b")), undefined);
      assert.ok((await commit(reopened, write(set("a", 2)))) > stamp);
    });

    test("a key can end in the versionstamp of its write", async ({ engine }) => {
      const log = (value: number): StoredMutation => ({
        type: "set",
        key: k("log"),
        value: v(value),
        endsInVersionstamp: true,
      });
      const outcomes = await engine.commit([
        write(log(1), set("a", 1)),
        write([check("a", null)], log(2)),
        write(log(3), log(4)),
      ]);
      const range = { start: k("log"), end: k("loh") };
      const entries = await engine.getRange({ range, limit: 10, reverse: false });
      assert.deepEqual(entries.map(plain), [
        { key: [...k("log", String(outcomes[0]))], value: [1], versionstamp: outcomes[0] },
        { key: [...k("log", String(outcomes[2]))], value: [4], versionstamp: outcomes[2] },
      ]);
      const [found, absent] = await engine.getMany([k("log", String(outcomes[0])), k("log")]);
      assert.deepEqual([found?.value[0], absent], [1, undefined]);
    });
  },
};

function sum(name: string, operand: bigint): StoredMutation {
  return { type: "sum", key: k(name), operand };
}

function min(name: string, operand: bigint): StoredMutation {
  return { type: "min", key: k(name), operand };
}

function max(name: string, operand: bigint): StoredMutation {
  return { type: "max", key: k(name), operand };
}

async function numbers(engine: Engine, ...names: string[]): Promise<bigint[]> {
  const entries = await engine.getMany(names.map((name) => k(name)));
  return entries.map((entry) => {
    const value = decodeValue(entry!.value);
    assert.ok(value instanceof KvU64);
    return value.value;
  });
}
