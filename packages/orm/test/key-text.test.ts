import type { KvKey, KvKeyPart } from "@keywright/core";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { isSameKey } from "../src/model/keys/key-parts.js";
import { keyText } from "../src/model/keys/key-text.js";

/** Strings that look like the text of other parts, and parts that look alike. */
const part: fc.Arbitrary<KvKeyPart> = fc.oneof(
  fc.string({
    unit: fc.constantFrom(",", ":", " ", "s", "u", "1", "string", "number"),
    maxLength: 4,
  }),
  fc.constantFrom<KvKeyPart>(
    0,
    -0,
    1,
    1n,
    "1",
    true,
    "true",
    Number.NaN,
    "NaN",
    new Uint8Array([49]),
  ),
  fc.uint8Array({ maxLength: 2 }),
);
const key: fc.Arbitrary<KvKey> = fc.array(part, { maxLength: 4 });

/** Two keys, of which the second may be the first with its strings divided in other places. */
const twoKeys = fc.oneof(
  fc.tuple(key, key),
  key.map((parts): [KvKey, KvKey] => [parts, parts.map((each) => structuredClone(each))]),
  key.map((parts): [KvKey, KvKey] => [parts, [parts.join(",string ")]]),
);

it("two keys have the same text if and only if they are the same key", () => {
  fc.assert(
    fc.property(twoKeys, ([a, b]) => {
      expect(keyText(a) === keyText(b)).toBe(isSameKey(a, b));
    }),
    {
      numRuns: 2000,
      examples: [
        [
          [
            ["a", "b,string c"],
            ["a,string b", "c"],
          ],
        ],
        [[["a", "b"], ["a1:b"]]],
        [[["as1:b"], ["a", "b"]]],
        [[["", ""], [""]]],
        [[[new Uint8Array([97]), "b"], [new Uint8Array([97, 115, 49, 58, 98])]]],
        [[[1, 2], [12]]],
        [
          [
            [1n, 2],
            [1, 2n],
          ],
        ],
        [[[0], [-0]]],
      ],
    },
  );
});
