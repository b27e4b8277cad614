import { compareKeys, denoOrder, type KvKeyPart, specificationOrder } from "@keywright/core";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { ascendingPart, descendingPart, isSamePart } from "../src/model/keys/key-parts.js";

const text = fc.string({
  unit: fc.constantFrom("a", "b", "\0", "\u{1f600}", "\uffff"),
  maxLength: 4,
});
const bytes = fc.uint8Array({ maxLength: 4 });
const part: fc.Arbitrary<KvKeyPart> = fc.oneof(
  text,
  bytes,
  fc.double({ noNaN: true }).map((value) => (value === 0 ? 0 : value)),
  fc.bigInt(),
  fc.boolean(),
);

const orders = [
  { name: "specification", order: specificationOrder },
  { name: "deno", order: denoOrder },
];

it.each(orders)("a descending part reverses the order $name, whatever the parts", ({ order }) => {
  fc.assert(
    fc.property(part, part, (a, b) => {
      const forward = Math.sign(compareKeys([a], [b], order));
      expect(Math.sign(compareKeys([descendingPart(a, order)], [descendingPart(b, order)]))).toBe(
        0 - forward,
      );
    }),
    { numRuns: 2000 },
  );
});

it.each(orders)("a descending part of the order $name is read back", ({ order }) => {
  fc.assert(
    fc.property(part, (a) => {
      expect(isSamePart(ascendingPart(descendingPart(a, order), order), a)).toBe(true);
    }),
  );
  for (const other of ["a", new Uint8Array(), new Uint8Array([1, 2]), new Uint8Array([0xff])]) {
    expect(ascendingPart(other, order)).toBeUndefined();
  }
});

it("a descending part has the bytes that it always had", () => {
  const hex = (value: KvKeyPart) =>
    Buffer.from(descendingPart(value, specificationOrder)).toString("hex");
  expect(hex("a")).toBe("fd9effff");
  expect(hex("a\0")).toBe("fd9eff00ffff");
  expect(hex(1)).toBe("f5400fffffffffffffff");
  expect(hex(5n)).toBe("eafaff");
  expect(hex(true)).toBe("d8ff");
});
