import {
  type Kv,
  type KvKey,
  type KvListSelector,
  openKv,
  specificationOrder,
} from "@keywright/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { keyText } from "../src/model/keys/key-text.js";
import { mergedSelectors } from "../src/state/transaction/buffer/merged-selectors.js";
import { TransactionKv } from "../src/state/transaction/transaction-kv.js";

const parts = ["a", "b", "c"];
const keys: KvKey[] = parts.flatMap((first) => [
  [first],
  ...parts.flatMap((second) => [[first, second], ...parts.map((third) => [first, second, third])]),
]);

async function keysIn(kv: Kv, selector: KvListSelector): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of kv.list(selector)) found.push(keyText(key));
  return found;
}

it("selectors are merged without a change of their keys, and those between keys do not overlap", async () => {
  const kv = await openKv();
  try {
    for (const key of keys) await kv.set(key, 1);
    const key = fc.constantFrom(...keys);
    const selector = fc
      .record({ prefix: fc.option(key), start: fc.option(key), end: fc.option(key) })
      .map(({ prefix, start, end }) => {
        const isWithin = (bound: KvKey | null) =>
          prefix?.every((part, i) => bound === null || bound[i] === part);
        if (start !== null && end !== null) return { start, end };
        return prefix !== null && isWithin(start) && isWithin(end)
          ? { prefix, ...(start && { start }), ...(end && { end }) }
          : { prefix: ["b"] };
      })
      .filter((each) => {
        try {
          return kv.list(each) !== undefined;
        } catch {
          return false;
        }
      });
    const property = fc.asyncProperty(fc.array(selector, { maxLength: 6 }), async (selectors) => {
      const merged = mergedSelectors(selectors, specificationOrder);
      const before = await Promise.all(selectors.map((each) => keysIn(kv, each)));
      const after = await Promise.all(merged.map((each) => keysIn(kv, each)));
      expect(new Set(after.flat())).toEqual(new Set(before.flat()));
      expect(merged.length).toBeLessThanOrEqual(selectors.length);
      const areBetweenKeys = selectors.every((each) => !("prefix" in each));
      if (areBetweenKeys) expect(new Set(after.flat()).size).toBe(after.flat().length);
    });
    await fc.assert(property, { numRuns: 300 });
  } finally {
    await kv.close();
  }
});

it("a commit checks the pages of a list, and what was listed twice, as one range", async () => {
  const kv = await openKv();
  try {
    for (const key of keys) await kv.set(key, 1);
    for (const reverse of [false, true]) {
      const checked: KvListSelector[] = [];
      const counting = new Proxy(kv, {
        get(target, property) {
          const member: unknown = Reflect.get(target, property, target);
          if (typeof member !== "function") return member;
          if (property !== "atomic") return member.bind(target);
          return () => {
            const operation = target.atomic();
            const checkRange = operation.checkRange!.bind(operation);
            operation.checkRange = (selector, versionstamp) => {
              checked.push(selector);
              return checkRange(selector, versionstamp);
            };
            return operation;
          };
        },
      });
      const transaction = new TransactionKv(counting);
      const read = async (options: { readonly cursor?: string }) => {
        const list = transaction.list({ prefix: ["b"] }, { limit: 3, reverse, ...options });
        for await (const _ of list);
        return list.cursor;
      };
      for (let page = 0, cursor = ""; page < 3; page++)
        cursor = await read(cursor ? { cursor } : {});
      await read({});
      await transaction.set(["d"], 1);
      expect((await transaction.commit()).ok).toBe(true);
      transaction.release();
      expect(checked).toHaveLength(1);
      // Three pages of three keys, of the twelve that continue the prefix.
      expect(await keysIn(kv, checked[0]!)).toHaveLength(9);
    }
  } finally {
    await kv.close();
  }
});
