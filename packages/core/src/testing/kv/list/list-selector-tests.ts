import assert from "node:assert/strict";
import type { KvKeyPart } from "../../../keys/key.js";
import type { KvListSelector } from "../../../keys/key-range.js";
import type { KvListOptions } from "../../../kv/kv.js";
import { valuesOf } from "../collect.js";
import type { KvTestGroup } from "../kv-adapter.js";
import { refuses } from "../refuses.js";
import { fillSample } from "./list-sample.js";

export const listSelectorTests: KvTestGroup = {
  name: "list selectors and cursors",
  define(test) {
    const selectors: [string, KvListSelector, number[]][] = [
      ["a prefix", { prefix: ["b"] }, [3, 4, 5, 6, 7, 8, 9]],
      ["a longer prefix", { prefix: ["b", 2] }, [7, 8]],
      ["an empty prefix", { prefix: [] }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
      ["a prefix that nothing is under", { prefix: ["c"] }, []],
      ["a prefix that is not there", { prefix: ["zz"] }, []],
      ["a prefix and a start", { prefix: ["b"], start: ["b", 2] }, [6, 7, 8, 9]],
      ["a prefix and a start between keys", { prefix: ["b"], start: ["b", 2, "o"] }, [7, 8, 9]],
      ["a prefix and an end", { prefix: ["b"], end: ["b", 2] }, [3, 4, 5]],
      [
        "a prefix and an end under another key",
        { prefix: ["b"], end: ["b", 2, "q"] },
        [3, 4, 5, 6, 7],
      ],
      ["a start and an end", { start: ["a", 9], end: ["b", 2] }, [1, 2, 3, 4, 5]],
      ["a start and an end across prefixes", { start: ["b", 2, "q"], end: ["c"] }, [8, 9, 10]],
      ["a start that equals its end", { start: ["b"], end: ["b"] }, []],
      ["a start that its end extends", { start: ["b"], end: ["b", "x"] }, [2, 3]],
    ];
    for (const [name, selector, expected] of selectors) {
      for (const reverse of [false, true]) {
        const direction = reverse ? " in reverse" : "";
        const inOrder = reverse ? expected.toReversed() : expected;

        test(`${name} selects its entries${direction}`, async ({ kv }) => {
          await fillSample(kv);
          for (const batchSize of [undefined, 2, 3, 500]) {
            const options: KvListOptions = batchSize === undefined ? {} : { batchSize };
            assert.deepEqual(await valuesOf(kv.list(selector, { ...options, reverse })), inOrder);
          }
        });

        test(`${name}: a cursor resumes after each entry${direction}`, async ({ kv }) => {
          await fillSample(kv);
          const iterator = kv.list<number>(selector, { reverse, batchSize: 2 });
          for (let seen = 1; seen <= inOrder.length; seen++) {
            assert.equal((await iterator.next()).value?.value, inOrder[seen - 1]);
            const cursor: string = iterator.cursor;
            assert.notEqual(cursor, "");
            const rest = kv.list<number>(selector, { reverse, cursor });
            assert.deepEqual(await valuesOf(rest), inOrder.slice(seen));
          }
        });
      }
    }

    test("batches of one entry have the same entries", async ({ kv }) => {
      await fillSample(kv);
      for (const [name, selector, expected] of selectors) {
        for (const reverse of [false, true]) {
          const inOrder = reverse ? expected.toReversed() : expected;
          const options = { batchSize: 1, reverse };
          assert.deepEqual(await valuesOf(kv.list(selector, options)), inOrder, name);
          const two = kv.list(selector, { ...options, limit: 2 });
          assert.deepEqual(await valuesOf(two), inOrder.slice(0, 2), name);
        }
      }
    });

    test("before the first entry, the cursor is the one that was passed, or empty", async ({
      kv,
    }) => {
      await fillSample(kv);
      const iterator = kv.list({ prefix: ["b"] });
      assert.equal(iterator.cursor, "");
      await iterator.next();
      const { cursor } = iterator;
      assert.equal(kv.list({ prefix: ["b"] }, { cursor }).cursor, cursor);
    });

    test("parts sort by type in the order of the specification", async ({ kv }) => {
      const parts = [Uint8Array.of(255), "z", 9, 9n, false, true];
      for (const part of parts.toReversed()) await kv.set([part], parts.indexOf(part));
      assert.deepEqual(await valuesOf(kv.list({ prefix: [] })), [0, 1, 2, 3, 4, 5]);
    });

    test("parts of one type sort by value", async ({ kv }) => {
      const parts: Record<string, KvKeyPart[]> = {
        bytes: [[], [0], [0, 0], [0, 255], [1], [255]].map((bytes) => Uint8Array.from(bytes)),
        strings: ["", "\0", "a", "a\0", "aa", "b", "\u00e9", "\uffff", "\u{10000}"],
        numbers: [
          Number.NEGATIVE_INFINITY,
          -1.5,
          -1,
          -0,
          0,
          5e-324,
          1,
          10,
          Number.POSITIVE_INFINITY,
        ],
        bigints: [-(1n << 70n), -256n, -255n, -1n, 0n, 1n, 255n, 256n, 1n << 70n],
        booleans: [false, true],
      };
      for (const [type, ordered] of Object.entries(parts)) {
        const indexes = [...ordered.keys()];
        for (const index of indexes.toReversed()) await kv.set([type, ordered[index]!], index);
        assert.deepEqual(await valuesOf(kv.list({ prefix: [type] })), indexes, type);
      }
    });

    test("a prefix consists of whole parts", async ({ kv }) => {
      for (const key of [["a"], ["a", "b"], ["ab"], ["ab", "c"], ["a\0"], ["a\0", "b"]])
        await kv.set(key, key);
      assert.deepEqual(await valuesOf(kv.list({ prefix: ["a"] })), [["a", "b"]]);
      assert.deepEqual(await valuesOf(kv.list({ prefix: ["a\0"] })), [["a\0", "b"]]);
    });

    for (const [name, selector] of Object.entries(noSelectors)) {
      test(`refuses ${name} as a selector`, async ({ kv }) => {
        await refuses(() => kv.list(selector).next());
      });
    }

    for (const [name, options] of Object.entries(noOptions)) {
      test(`refuses ${name}`, async ({ kv }) => {
        await refuses(() => kv.list({ prefix: [] }, options).next());
      });
    }

    test("refuses an invalid selector, option or cursor with a TypeError", async ({ kv }) => {
      for (const selector of Object.values(noSelectors))
        await refuses(() => kv.list(selector).next(), TypeError);
      for (const options of Object.values(noOptions))
        await refuses(() => kv.list({ prefix: [] }, options).next(), TypeError);
      await refuses(() => kv.list({ prefix: [] }, { cursor: "A" }).next(), TypeError);
    });

    test("an empty cursor counts as no cursor", async ({ kv }) => {
      await fillSample(kv);
      assert.deepEqual(await valuesOf(kv.list({ prefix: ["b", 2] }, { cursor: "" })), [7, 8]);
    });

    test("refuses a cursor from outside the selector's range", async ({ kv }) => {
      await fillSample(kv);
      const cursorOf = async (selector: KvListSelector) => {
        const iterator = kv.list(selector);
        await iterator.next();
        return iterator.cursor;
      };
      const refused: [KvListSelector, string][] = [
        [{ start: ["b", 1], end: ["b", true] }, await cursorOf({ start: ["b"], end: ["b", true] })],
        [{ prefix: ["b"], start: ["b", 2] }, await cursorOf({ prefix: ["b"] })],
        [{ prefix: ["b"], end: ["b", 1] }, await cursorOf({ prefix: ["b"], start: ["b", 2] })],
      ];
      for (const [selector, cursor] of refused)
        await refuses(() => kv.list(selector, { cursor }).next());
    });

    test("refuses a cursor that no iterator returned", async ({ kv }) => {
      await fillSample(kv);
      // The last two are the bytes 02 and ff: the tag of a string without a string, and no tag.
      for (const cursor of ["not base64!", "AA==", "A", "Ag", "_w"])
        await refuses(() => kv.list({ prefix: ["b"] }, { cursor }).next());
    });
  },
};

const noSelectors = {
  undefined: undefined,
  null: null,
  "an empty object": {},
  "an array": [],
  "a string": "a",
  "a start alone": { start: ["a"] },
  "an end alone": { end: ["a"] },
  "a prefix with both a start and an end": { prefix: ["a"], start: ["a", 1], end: ["a", 2] },
  "a prefix with a start outside it": { prefix: ["a"], start: ["b"] },
  "a prefix with an end outside it": { prefix: ["a"], end: ["b"] },
  "a prefix with itself as its start": { prefix: ["a"], start: ["a"] },
  "a start after its end": { start: ["b"], end: ["a"] },
  "a prefix with a lone surrogate": { prefix: ["\ud800"] },
} as unknown as Record<string, KvListSelector>;

const noOptions = {
  "a limit of 0": { limit: 0 },
  "a negative limit": { limit: -1 },
  "a limit between integers": { limit: 1.5 },
  "a limit of NaN": { limit: Number.NaN },
  "a limit that is a string": { limit: "1" },
  "a batchSize of 0": { batchSize: 0 },
  "a negative batchSize": { batchSize: -1 },
  "a batchSize between integers": { batchSize: 1.5 },
  "a cursor that is a number": { cursor: 5 },
} as unknown as Record<string, KvListOptions>;
