import assert from "node:assert/strict";
import type { Engine } from "../../../engine/engine.js";
import { decodeValue } from "../../../values/decode-value.js";
import { encodeValue } from "../../../values/encode-value.js";
import { KvU64 } from "../../../values/kv-u64.js";
import type { EngineTestGroup } from "../engine-adapter.js";
import {
  applied,
  check,
  combine,
  commit,
  del,
  k,
  list,
  plain,
  set,
  stampsOf,
  values,
  write,
} from "../writes.js";

const largest = (1n << 64n) - 1n;
const types = ["sum", "min", "max"] as const;

async function numbers(engine: Engine, ...names: string[]): Promise<bigint[]> {
  const entries = await engine.getMany(names.map((name) => k(name)));
  return entries.map((entry) => {
    const value = decodeValue(entry!.value);
    assert.ok(value instanceof KvU64);
    return value.value;
  });
}

export const mutationTests: EngineTestGroup = {
  name: "sum, min, max and versionstamps in keys",
  define(test) {
    const sum = (name: string, operand: bigint) => combine("sum", name, operand);
    const min = (name: string, operand: bigint) => combine("min", name, operand);
    const max = (name: string, operand: bigint) => combine("max", name, operand);

    test("sum, min and max store their operand if the key is absent", async ({ engine }) => {
      await commit(engine, write(sum("a", 5n), min("b", 6n), max("c", largest)));
      assert.deepEqual(await numbers(engine, "a", "b", "c"), [5n, 6n, largest]);
    });

    test("sum, min and max combine their operand with the stored number", async ({ engine }) => {
      const value = encodeValue(new KvU64(10n));
      await commit(engine, write(...["a", "b", "c"].map((name) => set(name, 0, { value }))));
      await commit(engine, write(sum("a", 3n), min("b", 3n), max("c", 3n)));
      assert.deepEqual(await numbers(engine, "a", "b", "c"), [13n, 3n, 10n]);
      await commit(engine, write(sum("a", largest), min("b", largest), max("c", largest)));
      assert.deepEqual(await numbers(engine, "a", "b", "c"), [12n, 3n, largest]);
    });

    test("sum, min and max give their key the versionstamp of the write", async ({ engine }) => {
      await commit(engine, write(sum("a", 1n)));
      const stamp = await commit(engine, write(sum("a", 1n), max("b", 1n)));
      assert.deepEqual(stampsOf(await engine.getMany([k("a"), k("b")])), [stamp, stamp]);
    });

    test("sum, min and max see the earlier changes of their group", async ({ engine }) => {
      await commit(engine, write(sum("a", 100n)));
      const areApplied = await applied(
        engine,
        write(sum("a", 1n), sum("a", 2n)),
        write([check("a", null)], sum("a", 1000n)),
        write(del("a"), sum("a", 4n)),
        write(sum("a", 8n), max("b", 3n), min("b", 2n)),
      );
      assert.deepEqual(areApplied, [true, false, true, true]);
      assert.deepEqual(await numbers(engine, "a", "b"), [12n, 2n]);
    });

    test("a stored value that is no KvU64 fails only its own write", async ({ engine }) => {
      const text = set("text", 0, { value: encodeValue("text") });
      await commit(engine, write(text));
      for (const type of types) {
        const outcomes = await engine.commit([
          write(sum("a", 1n)),
          write(set("b", 1), sum("a", 10n), set("text", 9), text, combine(type, "text", 1n)),
          write([check("b", null)], sum("a", 100n)),
        ]);
        assert.ok(outcomes[1] instanceof TypeError);
        assert.deepEqual([typeof outcomes[0], typeof outcomes[2]], ["string", "string"]);
      }
      assert.deepEqual(await numbers(engine, "a"), [303n]);
      assert.deepEqual(await values(engine, "b"), [undefined]);
      assert.equal(decodeValue((await engine.get(k("text")))!.value), "text");
    });

    test("a group whose only write fails writes nothing", async ({ engine, reopen }) => {
      const stamp = await commit(engine, write(set("a", 1, { value: encodeValue(1) })));
      const [outcome] = await engine.commit([write(set("b", 1), sum("a", 1n))]);
      assert.ok(outcome instanceof TypeError);
      const reopened = await reopen();
      assert.equal((await reopened.get(k("a")))?.versionstamp, stamp);
      assert.equal(await reopened.get(k("b")), undefined);
      assert.ok((await commit(reopened, write(set("a", 2)))) > stamp);
    });

    test("a key can end in the versionstamp of its write", async ({ engine }) => {
      const log = (number: number) => set("log", number, { endsInVersionstamp: true });
      const outcomes = await engine.commit([
        write(log(1), set("a", 1)),
        write([check("a", null)], log(2)),
        write(log(3), log(4)),
      ]);
      const [first, , third] = outcomes.map(String);
      assert.deepEqual((await list(engine, { start: k("log"), end: k("loh") })).map(plain), [
        { key: [...k("log", first!)], value: [1], versionstamp: first },
        { key: [...k("log", third!)], value: [4], versionstamp: third },
      ]);
      const [found, absent] = await engine.getMany([k("log", first!), k("log")]);
      assert.deepEqual([found?.value[0], absent], [1, undefined]);
    });
  },
};
