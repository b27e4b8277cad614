import assert from "node:assert/strict";
import { InvalidOptionError } from "../../../errors/core-errors.js";
import {
  LogOffError,
  LogTruncatedError,
  PastLimitError,
  PastUnknownError,
} from "../../../errors/log-errors.js";
import type { KvKey } from "../../../keys/key.js";
import type { EmbeddedKv } from "../../../kv/embedded-kv.js";
import type { KvView } from "../../../kv/kv.js";
import { openKv } from "../../../kv/open-kv.js";
import { KvU64 } from "../../../values/kv-u64.js";
import type { EngineTestGroup } from "../engine-adapter.js";
import { writeAtRandom } from "./log-tests.js";

const week = { keep: "7 days" } as const;
const prefixes = [["key"], ["sum"], ["stamped"], ["moment"]];

export const pastTests: EngineTestGroup = {
  name: "an earlier state",
  define(addTest) {
    const test: typeof addTest = (name, body) => addTest(name, body, ["log", "views"]);

    test("is what was read at that moment, after all kinds of commits", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const moments: { versionstamp: string; state: State; max: unknown }[] = [];
      for (let n = 0; n < 12; n++) {
        await Promise.all([1, 2, 3].map((seed) => writeAtRandom(kv, 10 * n + seed, 4)));
        const { versionstamp } = await kv.set(["moment"], n);
        moments.push({
          versionstamp,
          state: await stateOf(kv),
          max: (await kv.get(["max"])).value,
        });
      }
      for (const { versionstamp, state, max } of moments) {
        using past = (await kv.openPast(versionstamp))!;
        assert.deepEqual(await stateOf(past), state);
        assert.deepEqual(await stateOf(past, true), state);
        assert.equal(past.versionstamp, versionstamp);
        const keys = [...state.values()].map(({ key }) => key).concat([["absent"]]);
        const entries = await past.getMany(keys);
        for (const [i, { value }] of [...state.values()].entries())
          assert.deepEqual(entries[i]?.value, value);
        assert.equal(entries.at(-1)?.versionstamp, null);
        if (engine.keepsLog === true) assert.deepEqual((await past.get(["max"])).value, max);
      }
    });

    test("stays as it is while commits come", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const { versionstamp } = await kv.set(["a"], 1);
      await kv.set(["a"], 2);
      using past = (await kv.openPast(versionstamp))!;
      await kv.atomic().delete(["a"]).set(["b"], 1).commit();
      assert.equal((await past.get(["a"])).value, 1);
      assert.equal((await past.get(["b"])).value, null);
    });

    test("is found by the times of commits", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      const [first] = await kv
        .changes({ live: false })
        .next()
        .then(({ value }) => [value!]);
      await waitAfter(first.time);
      await kv.set(["a"], 2);
      using past = (await kv.openPast(first.time))!;
      assert.equal((await past.get(["a"])).value, 1);
      using present = (await kv.openPast(new Date(Date.now() + 60_000)))!;
      assert.equal((await present.get(["a"])).value, 2);
      const early = new Date(first.time.getTime() - 60_000);
      await assert.rejects(kv.openPast(early), LogTruncatedError);
      await assert.rejects(kv.openPast(new Date("never")), InvalidOptionError);
    });

    test("has no entries that have expired since", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      const operation = kv.atomic().set(["a"], 1, { expireIn: 20 }).set(["b"], 1);
      await operation.set(["c"], 1, { expireIn: 600_000 }).commit();
      const { versionstamp } = await kv.get(["b"]);
      while ((await kv.get(["a"])).versionstamp !== null) await waitAfter(new Date());
      await kv.delete(["c"]);
      await kv.set(["a"], 2);
      using past = (await kv.openPast(versionstamp!))!;
      const entries = await past.getMany([["a"], ["b"], ["c"]]);
      assert.deepEqual(
        entries.map(({ value }) => value),
        [null, 1, 1],
      );
      assert.ok((entries[2] as { expireAt?: number }).expireAt! > Date.now());
    });

    test("is refused if the log cannot tell it", async ({ engine, reopen }) => {
      const plain = await openKv(engine);
      const { versionstamp: early } = await plain.set(["a"], 1);
      await assert.rejects(plain.openPast(early), LogOffError);
      await assert.rejects(plain.commitAt(early), LogOffError);
      await assert.rejects(plain.lastChange(["a"]), LogOffError);
      const kv = await openKv(await reopen(), { log: week });
      await assert.rejects(kv.openPast(early), LogTruncatedError);
      const { versionstamp } = await kv.set(["n"], new KvU64(5n));
      await kv.atomic().max(["n"], 7n).max(["m"], 7n).commit();
      await kv.atomic().sum(["s"], 7n).commit();
      await assert.rejects(kv.openPast(versionstamp, { maxChanges: 2 }), PastLimitError);
      using past = (await kv.openPast(versionstamp, { maxChanges: 3 }))!;
      assert.equal((await past.get(["s"])).value, null);
      if (engine.keepsLog === true) {
        assert.deepEqual((await past.get(["n"])).value, new KvU64(5n));
        return;
      }
      await assert.rejects(past.get(["n"]), (error) => {
        assert.ok(error instanceof PastUnknownError);
        assert.deepEqual(error.key, ["n"]);
        return true;
      });
    });

    test("of one key is read commit by commit", async ({ engine }) => {
      const kv = await openKv(engine, { log: week });
      await kv.set(["a"], 1);
      await kv.atomic().set(["a"], 2).set(["a", 1], 2).context!("said").commit();
      const { versionstamp } = await kv.get(["a"]);
      const commit = await kv.commitAt(versionstamp!, { key: ["a"] });
      assert.deepEqual(
        commit?.changes.map(({ key, before }) => [key, before?.value]),
        [[["a"], 1]],
      );
      assert.equal(commit.context, "said");
      assert.equal(await kv.commitAt(versionstamp!, { prefix: ["b"] }), undefined);
      assert.equal(await kv.commitAt(versionstamp!.replace(/.$/, "7")), undefined);
      await kv.delete(["a"]);
      for (let n = 0; n < 3; n++) await kv.set(["b"], n);
      const { commit: deletion } = await kv.lastChange(["a"]);
      assert.deepEqual(
        deletion?.changes.map(({ type, before }) => [type, before?.value]),
        [["delete", 2]],
      );
      const short = await kv.lastChange(["a"], { maxCommits: 2 });
      assert.equal(short.commit, undefined);
      const continued = await kv.lastChange(["a"], { before: short.readTo, maxCommits: 2 });
      assert.deepEqual(continued.commit, deletion);
      const before = await kv.lastChange(["a"], { before: deletion!.versionstamp });
      assert.equal(before.commit?.versionstamp, versionstamp);
      assert.deepEqual(await kv.lastChange(["c"]), { commit: undefined, readTo: undefined });
      const found = [];
      for await (const each of kv.changes({ key: ["a"], live: false })) found.push(each);
      assert.deepEqual(
        found.map(({ changes }) => changes.length),
        [1, 1, 1],
      );
    });
  },
};

interface Entry {
  readonly key: KvKey;
  readonly value: unknown;
  /** Undefined for a number, whose earlier versionstamp not every engine tells. */
  readonly versionstamp: string | undefined;
}

/** The entries by the texts of their keys. */
type State = ReadonlyMap<string, Entry>;

async function stateOf(reads: EmbeddedKv | KvView, reverse = false): Promise<State> {
  const all: [string, Entry][] = [];
  for (const prefix of prefixes) {
    for await (const { key, value, versionstamp } of reads.list(
      { prefix },
      { batchSize: 3, reverse },
    )) {
      if (value instanceof KvU64 && value.value === 0n) continue;
      const isNumber = value instanceof KvU64;
      all.push([key.join(), { key, value, versionstamp: isNumber ? undefined : versionstamp }]);
    }
  }
  all.sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(all);
}

/** Waits until the clock is after a time. */
async function waitAfter(time: Date): Promise<void> {
  while (Date.now() <= time.getTime()) await new Promise((resolve) => setTimeout(resolve, 1));
}
