import assert from "node:assert/strict";
import type { KvKey } from "../../keys/key.js";
import type { Kv, KvEntryMaybe, KvWatchOptions } from "../../kv/kv.js";
import { soon, until } from "../soon.js";
import type { KvTestGroup } from "./kv-adapter.js";
import { refuses } from "./refuses.js";

type Entries = KvEntryMaybe<unknown>[];

class Watch {
  readonly #reader: ReadableStreamDefaultReader<Entries>;

  constructor(kv: Kv, keys: readonly KvKey[], options?: KvWatchOptions) {
    this.#reader = kv.watch<unknown[]>([...keys], options).getReader();
  }

  async next(): Promise<Entries | undefined> {
    return (await soon("a report of watch", this.#reader.read())).value;
  }

  async values(): Promise<unknown[] | undefined> {
    return (await this.next())?.map((entry) => entry.value);
  }

  async cancel(): Promise<void> {
    await soon("the watch to be cancelled", this.#reader.cancel());
  }
}

export const watchTests: KvTestGroup = {
  name: "watch",
  define(test) {
    test("reports the current state first", async ({ kv }) => {
      const { versionstamp } = await kv.set(["a"], 1);
      const watch = new Watch(kv, [["a"], ["b"]]);
      assert.deepEqual(await watch.next(), [
        { key: ["a"], value: 1, versionstamp },
        { key: ["b"], value: null, versionstamp: null },
      ]);
    });

    test("reports first that a key is absent", async ({ kv }) => {
      const watch = new Watch(kv, [["a"]]);
      assert.deepEqual(await watch.next(), [{ key: ["a"], value: null, versionstamp: null }]);
    });

    test("reports each change to a pending read", async ({ kv }) => {
      await kv.set(["a"], 0);
      const watch = new Watch(kv, [["a"]]);
      await watch.next();
      for (let n = 1; n <= 5; n++) {
        const report = watch.next();
        const { versionstamp } = await kv.set(["a"], n);
        assert.deepEqual(await report, [{ key: ["a"], value: n, versionstamp }]);
      }
    });

    test("reports a deletion", async ({ kv }) => {
      await kv.set(["a"], 1);
      const watch = new Watch(kv, [["a"]]);
      await watch.next();
      await kv.delete(["a"]);
      assert.deepEqual(await watch.next(), [{ key: ["a"], value: null, versionstamp: null }]);
    });

    test("reports all keys at each change, in order", async ({ kv }) => {
      await kv.set(["a"], 1);
      const watch = new Watch(kv, [["b"], ["a"], ["b"]]);
      assert.deepEqual(await watch.values(), [null, 1, null]);
      await kv.set(["b"], 2);
      assert.deepEqual(await watch.values(), [2, 1, 2]);
      await kv.set(["a"], 3);
      assert.deepEqual(await watch.values(), [2, 3, 2]);
      await kv.delete(["b"]);
      assert.deepEqual(await watch.values(), [null, 3, null]);
    });

    test("reports the keys of a commit together", async ({ kv }) => {
      await kv.atomic().set(["a"], 0).set(["b"], 0).commit();
      const watch = new Watch(kv, [["a"], ["b"]]);
      const writer = (async () => {
        for (let n = 1; n <= 30; n++) await kv.atomic().set(["a"], n).set(["b"], n).commit();
      })();
      for (let seen = 0; seen < 30; ) {
        const [a, b] = (await watch.next())!;
        assert.equal(a!.value, b!.value);
        assert.equal(a!.versionstamp, b!.versionstamp);
        assert.ok((a!.value as number) > seen || seen === 0);
        seen = a!.value as number;
      }
      await writer;
    });

    test("reports changes that come faster than reads as one", async ({ kv }) => {
      await kv.set(["a"], 0);
      const watch = new Watch(kv, [["a"]]);
      await watch.next();
      for (let n = 1; n <= 50; n++) await kv.set(["a"], n);
      const seen: unknown[] = [];
      while (seen.at(-1) !== 50) seen.push((await watch.values())?.[0]);
      assert.ok(seen.length <= 3, `there are reports of ${seen.join()}`);
    });

    test("does not report a commit that leaves its keys unchanged", async ({ kv }) => {
      await kv.set(["a"], 1);
      const watch = new Watch(kv, [["a"], ["b"]]);
      await watch.next();
      const report = watch.values();
      await kv.set(["other"], 1);
      await kv.set(["a", 1], 1);
      await kv.delete(["b"]);
      const check = { key: ["a"], versionstamp: null };
      await kv.atomic().check(check).set(["a"], 9).commit();
      await kv.set(["b"], 2);
      assert.deepEqual(await report, [1, 2]);
    });

    test("with raw also reports commits that leave its keys unchanged", async ({ kv }) => {
      const { versionstamp } = await kv.set(["a"], 1);
      const watch = new Watch(kv, [["a"], ["b"]], { raw: true });
      const state = [
        { key: ["a"], value: 1, versionstamp },
        { key: ["b"], value: null, versionstamp: null },
      ];
      assert.deepEqual(await watch.next(), state);
      for (let n = 0; n < 3; n++) {
        const report = watch.next();
        await kv.delete(["b"]);
        assert.deepEqual(await report, state);
      }
    });

    test("sees sum, min and max", async ({ kv, KvU64 }) => {
      await kv.atomic().sum(["a"], 1n).commit();
      const watch = new Watch(kv, [["a"]]);
      assert.deepEqual(await watch.values(), [new KvU64(1n)]);
      await kv.atomic().sum(["a"], 1n).commit();
      assert.deepEqual(await watch.values(), [new KvU64(2n)]);
      await kv.atomic().max(["a"], 9n).commit();
      assert.deepEqual(await watch.values(), [new KvU64(9n)]);
      await kv.atomic().min(["a"], 3n).commit();
      assert.deepEqual(await watch.values(), [new KvU64(3n)]);
    });

    test("reports an expired key as absent", async ({ kv }) => {
      // With a key that stays, every client reports the first state, even if the other has expired.
      await kv.set(["stays"], 0);
      await kv.set(["a"], 1, { expireIn: 40 });
      const end = Date.now() + 40;
      const watch = new Watch(kv, [["a"], ["b"], ["stays"]]);
      await watch.next();
      await until(end);
      await kv.set(["b"], 2);
      let values = await watch.values();
      // The expiry may have its own report, before the one of the commit.
      if (values?.[1] === null) values = await watch.values();
      assert.deepEqual(values, [null, 2, 0]);
    });

    test("reports that a key expires without a commit", async ({ kv }) => {
      // Long enough for a watch of a server on a busy machine to begin before.
      await kv.set(["a"], 1, { expireIn: 400 });
      const watch = new Watch(kv, [["a"]]);
      assert.deepEqual(await watch.values(), [1]);
      assert.deepEqual(await watch.values(), [null]);
    });

    test("reports each change to several watches of one key", async ({ kv }) => {
      await kv.set(["a"], 1);
      const watches = [new Watch(kv, [["a"]]), new Watch(kv, [["a"]]), new Watch(kv, [["a"]])];
      for (const watch of watches) assert.deepEqual(await watch.values(), [1]);
      await watches.pop()!.cancel();
      await kv.set(["a"], 2);
      for (const watch of watches) assert.deepEqual(await watch.values(), [2]);
    });

    test("gives each reader its own copy", async ({ kv }) => {
      await kv.set(["a"], { list: [1] });
      const watches = [new Watch(kv, [["a"]]), new Watch(kv, [["a"], ["b"]])];
      const [entry] = (await watches[0]!.next())!;
      (entry!.value as { list: number[] }).list.push(2);
      (entry!.key as string[])[0] = "b";
      const [other] = (await watches[1]!.next())!;
      assert.deepEqual([other!.key, other!.value], [["a"], { list: [1] }]);
      await kv.set(["b"], 1);
      assert.deepEqual(await watches[1]!.values(), [{ list: [1] }, 1]);
    });

    test("ends when the database is closed", async ({ kv }) => {
      await kv.set(["a"], 1);
      const watch = new Watch(kv, [["a"]]);
      await watch.next();
      const waiting = watch.next();
      const unread = new Watch(kv, [["a"]]);
      await kv.close();
      assert.equal(await waiting, undefined);
      // The stream may have read its first report before the database was closed.
      if ((await unread.next()) !== undefined) assert.equal(await unread.next(), undefined);
    });

    test("can be left while the database stays open", async ({ kv }) => {
      await kv.set(["a"], 1);
      for await (const [entry] of kv.watch([["a"]])) {
        assert.equal(entry.value, 1);
        break;
      }
      const cancelled = new Watch(kv, [["a"]]);
      await cancelled.next();
      await cancelled.cancel();
      assert.equal(await cancelled.next(), undefined);
      await kv.set(["a"], 2);
      assert.equal((await kv.get(["a"])).value, 2);
    });

    test("can be left during a pending read", async ({ kv }) => {
      await kv.set(["a"], 1);
      const watch = new Watch(kv, [["a"]]);
      await watch.next();
      const waiting = watch.next();
      await watch.cancel();
      assert.equal(await waiting, undefined);
    });

    for (const [name, key] of Object.entries(noKeys)) {
      test(`refuses ${name} as a key`, async ({ kv }) => {
        await refuses(() => new Watch(kv, [["a"], key]).next(), TypeError);
      });
    }
  },
};

const noKeys = {
  "an empty array": [],
  "a string": "a",
  "an array with null": [null],
  "an array with a lone surrogate": ["\ud800"],
} as unknown as Record<string, KvKey>;
