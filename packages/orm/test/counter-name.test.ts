import { expect, test } from "vitest";
import { countersOf } from "../src/model/aggregates/counter.js";
import { counterName, parseCounterName } from "../src/model/aggregates/counter-name.js";

const amount = { field: "amount", scale: 0, type: "number", isOptional: false } as const;
const price = { field: "price", scale: 2, type: "string", isOptional: true } as const;

test("the name of a counter says the same as the counter", () => {
  const sums = [amount, price];
  const index = { name: "by, (customer)", counted: true, prefix: "c", sums, ranked: true };
  const ofRows = { counted: true, prefix: "r", sums };
  const counters = [...countersOf(ofRows, [index]), ...countersOf(ofRows, [], "deletedAt")];
  expect(counters.map(({ name, prefix }) => [name, prefix])).toEqual([
    ["", "r"],
    ["sum(amount)", "r sum(amount)"],
    ["sum(price, 2)", "r sum(price, 2)"],
    ["by, (customer)", "c"],
    ["by, (customer) sum(amount)", "c sum(amount)"],
    ["by, (customer) sum(price, 2)", "c sum(price, 2)"],
    ["by, (customer) ranked(amount, price:2)", "c ranked(amount, price:2)"],
    ["unmarked(deletedAt)", "r unmarked(deletedAt)"],
    ["unmarked(deletedAt) sum(amount)", "r unmarked(deletedAt) sum(amount)"],
    ["unmarked(deletedAt) sum(price, 2)", "r unmarked(deletedAt) sum(price, 2)"],
  ]);
  for (const { name, index: of, suffix, sum, isRanked } of counters) {
    const { field, scale } = sum ?? {};
    const named = sum === undefined ? undefined : { field, scale };
    expect(parseCounterName(name)).toEqual({ name, index: of, suffix, sum: named, isRanked });
    expect(counterName(of, suffix)).toBe(name);
  }
});
