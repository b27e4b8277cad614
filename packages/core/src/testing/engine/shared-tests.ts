import assert from "node:assert/strict";
import { Buffer } from "#platform";
import type { Engine, StoredEntry } from "../../engine/engine.js";
import { keyRange } from "../../keys/key-range.js";
import { decodeValue } from "../../values/decode-value.js";
import { KvU64 } from "../../values/kv-u64.js";
import { soon } from "../soon.js";
import type { EngineTestGroup } from "./engine-adapter.js";
import {
  applied,
  assertStrictlyIncreasing,
  check,
  combine,
  commit,
  commitReported,
  k,
  set,
  values,
  write,
} from "./writes.js";

const shared = "shared";

/** Stands for several processes that have one database open. */
export const sharedTests: EngineTestGroup = {
  name: "several engines on one storage",
  define(test) {
    test(
      "say that they are shared",
      async ({ engine }) => assert.equal(engine.isShared, true),
      shared,
    );

    test(
      "see each other's commits, in reads and checks",
      async ({ engine, openAnother }) => {
        const other = await openAnother();
        const stamps = [await commit(engine, write(set("a", 1)))];
        assert.deepEqual(await values(other, "a"), [1]);
        stamps.push(await commit(other, write([check("a", stamps[0]!)], set("a", 2))));
        assert.deepEqual(await applied(engine, write([check("a", stamps[0]!)], set("a", 3))), [
          false,
        ]);
        stamps.push(await commit(engine, write([check("a", stamps[1]!)], set("a", 4))));
        assert.deepEqual(await values(other, "a"), [4]);
        assertStrictlyIncreasing(stamps);
      },
      shared,
    );

    test(
      "lose no sum and no checked increment of each other",
      async ({ engine, openAnother }) => {
        const engines = [engine, await openAnother(), await openAnother()];
        const stamps: string[] = [];
        await Promise.all(
          engines.map(async (each) => {
            for (let i = 0; i < 20; i++) {
              await commit(each, write(combine("sum", "sum", 1n)));
              stamps.push(await increment(each));
            }
          }),
        );
        const [sum] = await engine.getMany([k("sum")]);
        assert.deepEqual(decodeValue(sum!.value), new KvU64(60n));
        assert.deepEqual(await values(engine, "checked"), [60]);
        assert.equal(new Set(stamps).size, 60);
      },
      shared,
    );

    test(
      "report each other's commits to watches, after which they can be read",
      async ({ engine, openAnother }) => {
        const other = await openAnother();
        const seen = firstCall<StoredEntry | undefined>((onCall) =>
          engine.watch([k("a")], () => onCall(Promise.resolve(engine.get(k("a"))))),
        );
        const stamp = await commit(other, write(set("b", 1), set("a", 1)));
        assert.equal((await soon("the report", seen))?.versionstamp, stamp);
      },
      shared,
    );

    test(
      "report each other's commits to watches of ranges, in their order",
      async ({ engine, openAnother }) => {
        const other = await openAnother();
        const reported: string[] = [];
        engine.watchRanges([keyRange({ prefix: [] })], (keys) => {
          for (const key of keys ?? []) reported.push(Buffer.from(key).toString("hex"));
        });
        const names = Array.from({ length: 30 }, (_, i) => `key ${i}`);
        for (const name of names) await commit(other, write(set(name, 1)));
        await commitReported(engine, write());
        const expected = names.map((name) => Buffer.from(k(name)).toString("hex"));
        assert.deepEqual(reported, expected);
      },
      shared,
    );

    test(
      "report what is committed between a watch and the read after it",
      async ({ engine, openAnother }) => {
        const other = await openAnother();
        for (let round = 0; round < 20; round++) {
          const report = firstCall<void>((onCall) => engine.watch([k("a")], () => onCall()));
          const writing = commit(other, write(set("a", round)));
          const [read] = await values(engine, "a");
          await writing;
          if (read !== round) await soon(`the report of commit ${round}`, report);
        }
      },
      shared,
    );

    test(
      "stay usable when one of them is closed",
      async ({ engine, openAnother, reopen }) => {
        const other = await openAnother();
        await commit(engine, write(set("a", 1)));
        const reopened = await reopen();
        await commit(other, write(set("b", 2)));
        assert.deepEqual(await values(reopened, "a", "b"), [1, 2]);
      },
      shared,
    );
  },
};

/** Adds one to the value of "checked" in a commit with a check. Returns its versionstamp. */
async function increment(engine: Engine): Promise<string> {
  for (;;) {
    const entry = await engine.get(k("checked"));
    const checks = [check("checked", entry?.versionstamp ?? null)];
    const next = set("checked", (entry?.value[0] ?? 0) + 1);
    const [outcome] = await engine.commit([write(checks, next)]);
    if (typeof outcome === "string") return outcome;
    assert.equal(outcome, null);
  }
}

/** Resolves with the argument of the first call of `onCall`, and then ends the watch. */
async function firstCall<T>(
  watch: (onCall: (result: T | Promise<T>) => void) => () => void,
): Promise<T> {
  let stop: () => void = () => undefined;
  const result = await new Promise<T>((resolve) => {
    stop = watch(resolve);
  });
  stop();
  return result;
}
