import fc from "fast-check";
import { expect, it } from "vitest";
import { SortedIds } from "../src/state/transaction/buffer/sorted-ids.js";

const id = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 5 });

it("finds the next id as a sorted array does, whatever was added when", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.record({ add: fc.array(id, { maxLength: 60 }) }),
          fc.record({ start: id, end: id, reverse: fc.boolean(), last: fc.option(id) }),
        ),
        { maxLength: 40 },
      ),
      (steps) => {
        const ids = new SortedIds();
        const all = new Set<string>();
        for (const step of steps) {
          if ("add" in step) {
            for (const one of step.add) {
              if (!all.has(one)) ids.add(one);
              all.add(one);
            }
            continue;
          }
          const { start, end, reverse } = step;
          const last =
            step.last !== null && step.last >= start && step.last < end ? step.last : undefined;
          const inRange = [...all].sort().filter((one) => one >= start && one < end);
          const next = reverse
            ? inRange.filter((one) => last === undefined || one < last).at(-1)
            : inRange.find((one) => last === undefined || one > last);
          expect(ids.next({ start, end }, last, reverse)).toBe(next);
        }
      },
    ),
    { numRuns: 300 },
  );
});

it("walks through all of them, forth and back, while more are added", () => {
  const ids = new SortedIds();
  const range = { start: "", end: "~" };
  const name = (n: number) => String(n).padStart(5, "0");
  for (let n = 0; n < 2000; n++) {
    // From both ends to the middle.
    ids.add(name(n % 2 === 0 ? n : 3999 - n));
    expect(ids.next(range, undefined, false)).toBe(name(0));
    if (n > 0) expect(ids.next(range, undefined, true)).toBe(name(3998));
  }
  for (const reverse of [false, true]) {
    let count = 0;
    for (let at = ids.next(range, undefined, reverse); at !== undefined; count++) {
      at = ids.next(range, at, reverse);
    }
    expect(count).toBe(2000);
  }
});
