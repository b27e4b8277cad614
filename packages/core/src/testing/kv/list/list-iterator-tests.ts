import assert from "node:assert/strict";
import type { KvEntry, KvListOptions } from "../../../kv/kv.js";
import { collect, valuesOf } from "../collect.js";
import type { KvTestGroup } from "../kv-adapter.js";
import { fillSample } from "./list-sample.js";

export const listIteratorTests: KvTestGroup = {
  name: "list options and iterators",
  define(test) {
    test("entries have key, value and versionstamp", async ({ kv }) => {
      const { versionstamp } = await kv.set(["a", 1n, Uint8Array.of(2)], { n: 1 });
      assert.deepEqual(await collect(kv.list({ prefix: ["a"] })), [
        { key: ["a", 1n, Uint8Array.of(2)], value: { n: 1 }, versionstamp },
      ]);
    });

    test("limit is the maximum number of entries", async ({ kv }) => {
      await fillSample(kv);
      for (const limit of [1, 2, 3, 7, 8, 1000]) {
        for (const batchSize of [2, 3, 100]) {
          const selector = { prefix: ["b"] };
          const expected = [3, 4, 5, 6, 7, 8, 9];
          const options = { limit, batchSize };
          assert.deepEqual(await valuesOf(kv.list(selector, options)), expected.slice(0, limit));
          assert.deepEqual(
            await valuesOf(kv.list(selector, { ...options, reverse: true })),
            expected.toReversed().slice(0, limit),
          );
        }
      }
    });

    test("pages by cursor have every entry once during inserts and deletes", async ({ kv }) => {
      for (let n = 0; n < 20; n += 2) await kv.set(["n", n], n);
      const seen: number[] = [];
      let options: KvListOptions = { limit: 3 };
      for (let page = 0; page < 100; page++) {
        const iterator = kv.list<number>({ prefix: ["n"] }, options);
        const numbers = await valuesOf(iterator);
        if (numbers.length === 0) break;
        seen.push(...numbers);
        options = { limit: 3, cursor: iterator.cursor };
        const last = numbers.at(-1)!;
        // Changes before the cursor, at it and after it.
        await kv.set(["n", last - 1], last - 1);
        await kv.delete(["n", last]);
        if (page === 0) await kv.set(["n", last + 1], last + 1);
      }
      assert.deepEqual(seen, [0, 2, 4, 5, 6, 8, 10, 12, 14, 16, 18]);
    });

    test("either consistency is accepted", async ({ kv }) => {
      await fillSample(kv);
      for (const consistency of ["strong", "eventual"] as const) {
        assert.deepEqual(await valuesOf(kv.list({ prefix: ["b", 2] }, { consistency })), [7, 8]);
      }
    });

    test("an iterator stays done, and can be left at any entry", async ({ kv }) => {
      await fillSample(kv);
      const finished = kv.list({ prefix: ["b", 2] });
      await collect(finished);
      assert.deepEqual(await finished.next(), { done: true, value: undefined });
      const left = kv.list<number>({ prefix: ["b"] }, { batchSize: 3 });
      for await (const entry of left) if (entry.value === 4) break;
      assert.deepEqual(await left.next(), { done: true, value: undefined });
      const never = kv.list({ prefix: ["b"] });
      await never.return?.();
      assert.deepEqual(await never.next(), { done: true, value: undefined });
      const forgotten = kv.list<number>({ prefix: ["b"] }, { batchSize: 2 });
      assert.equal((await forgotten.next()).value?.value, 3);
      await kv.set(["b", 1], "written while it is open");
    });

    for (const batchSize of [1, 2, 3, 100]) {
      test(`overlapping calls of next get one entry each from batches of ${batchSize}`, async ({
        kv,
      }) => {
        await fillSample(kv);
        const iterator = kv.list<number>({ prefix: ["b"] }, { batchSize });
        const answers: Promise<IteratorResult<KvEntry<number>>>[] = [];
        for (let call = 0; call < 10; call++) {
          answers.push(iterator.next());
          // Some calls begin just before an earlier one is answered.
          for (let turn = 0; turn < call; turn++) await Promise.resolve();
        }
        const results = await Promise.all(answers);
        assert.deepEqual(
          results.map((result) => result.value?.value),
          [3, 4, 5, 6, 7, 8, 9, undefined, undefined, undefined],
        );
      });
    }

    test("only calls of next before a return get an entry", async ({ kv }) => {
      await fillSample(kv);
      const iterator = kv.list<number>({ prefix: ["b"] }, { batchSize: 2 });
      assert.ok(iterator.return);
      const calls = [iterator.next(), iterator.next(), iterator.return(), iterator.next()];
      const results = await Promise.all(calls);
      assert.deepEqual(
        results.map((result) => result.value?.value),
        [3, 4, undefined, undefined],
      );
    });

    test("each batch is read when it is needed", async ({ kv }) => {
      for (let n = 0; n < 6; n++) await kv.set(["n", n], n);
      const iterator = kv.list<number>({ prefix: ["n"] }, { batchSize: 2 });
      assert.equal((await iterator.next()).value?.value, 0);
      await kv.delete(["n", 1]);
      await kv.delete(["n", 2]);
      await kv.set(["n", 3.5], 3.5);
      assert.deepEqual(await valuesOf(iterator), [1, 3, 3.5, 4, 5]);
    });

    test("a batch has limit entries, or 100, and at most 500", async ({ kv }) => {
      const atomic = kv.atomic();
      for (let n = 0; n < 600; n++) atomic.set(["n", n], n);
      await atomic.commit();
      const sizes: [KvListOptions, number][] = [
        [{}, 100],
        [{ limit: 300 }, 300],
        [{ limit: 300, batchSize: 40 }, 40],
        [{ batchSize: 1000 }, 500],
        [{ limit: 599 }, 500],
      ];
      for (const [options, size] of sizes) {
        const iterator = kv.list<number>({ prefix: ["n"] }, options);
        await iterator.next();
        // Entries of a batch that was already read are still returned.
        const [last, next] = [size - 1, size];
        await kv.atomic().delete(["n", last]).delete(["n", next]).commit();
        const rest = new Set(await valuesOf(iterator));
        assert.deepEqual([rest.has(last), rest.has(next)], [true, false]);
        await kv.atomic().set(["n", last], last).set(["n", next], next).commit();
      }
    });

    test("a thousand entries come in order", async ({ kv }) => {
      const atomic = kv.atomic();
      for (let n = 999; n >= 0; n--) atomic.set(["n", n], n);
      await atomic.commit();
      const numbers = Array.from({ length: 1000 }, (_, n) => n);
      assert.deepEqual(await valuesOf(kv.list({ prefix: ["n"] })), numbers);
      assert.deepEqual(
        await valuesOf(kv.list({ prefix: ["n"] }, { reverse: true, batchSize: 500 })),
        numbers.toReversed(),
      );
    });
  },
};
