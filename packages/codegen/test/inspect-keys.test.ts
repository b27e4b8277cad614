import { Buffer } from "node:buffer";
import { encodeKey, type KvKeyPart } from "@keywright/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyNotationError } from "../src/errors/inspect-errors.js";
import { keyJson } from "../src/inspect/entries/entry-line.js";
import { formatKey } from "../src/inspect/entries/format-key.js";
import { parseKey } from "../src/inspect/entries/parse-key.js";

const part: fc.Arbitrary<KvKeyPart> = fc.oneof(
  fc.uint8Array({ maxLength: 8 }),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom("1n", "b64:AQID", "-0", "NaN", "true", '{"$":"1n"}', "\u2028\u009b\u001b", '"\\'),
  fc.double(),
  fc.constantFrom(-0, Number.NaN, Infinity, -Infinity, 1e21, 1e-7, 123456789012345680000),
  fc.bigInt(),
  fc.boolean(),
);
const key = fc.array(part, { maxLength: 4 });

const hex = (parts: readonly KvKeyPart[]) => Buffer.from(encodeKey(parts)).toString("hex");

describe("the notation of keys", () => {
  it("is one line from which the same key is read, whatever it is", () => {
    fc.assert(
      fc.property(key, (parts) => {
        const text = formatKey(parts);
        expect(hex(parseKey(text))).toBe(hex(parts));
        // Nothing in it that a terminal takes for a command or for the end of a line.
        expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it("has a form within JSON from which the same key is read", () => {
    fc.assert(
      fc.property(key, (parts) => {
        expect(hex(parseKey(JSON.stringify(keyJson(parts))))).toBe(hex(parts));
      }),
    );
  });

  it("has one text for each key", () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(formatKey(a) === formatKey(b)).toBe(hex(a) === hex(b));
      }),
    );
  });

  it.each<[string, KvKeyPart[]]>([
    ['["users", 1n, b64:AQID, true, 3.5]', ["users", 1n, Uint8Array.of(1, 2, 3), true, 3.5]],
    ['["1n", "b64:AQID", "NaN"]', ["1n", "b64:AQID", "NaN"]],
    ["[-0, 0, -20n, b64:, false]", [-0, 0, -20n, new Uint8Array(), false]],
    ["[NaN, -Infinity, Infinity, 1e+21]", [Number.NaN, -Infinity, Infinity, 1e21]],
    ["[]", []],
  ])("has %s", (text, parts) => {
    expect(formatKey(parts)).toBe(text);
    expect(parseKey(text)).toEqual(parts);
    expect(parseKey(`\n ${text.replaceAll(",", " ,  ")} `)).toEqual(parts);
  });

  it.each([
    ["", 1, "begins with ["],
    ["users", 1, 'such as ["users"]'],
    ["[users]", 2, 'write a string in quotes: "users"'],
    ['["users', 2, "no closing quote"],
    ['["users", 1', 12, "a comma or the end"],
    ['["users" 1]', 10, "a comma or the end"],
    ['["users",]', 10, "expected a part of the key"],
    ['["a"] ["b"]', 7, "after the end of the key"],
    ["[null]", 2, "write a string in quotes"],
    ["[[1]]", 2, "expected a part of the key"],
    ['[{"a": 1}]', 2, "expected a part of the key"],
    ['[{"$": "users"}]', 2, "write a string in quotes"],
    ["[1, 01n]", 5, "must not begin with a zero"],
    ["[-0n]", 2, "must not begin with a zero"],
    ["[b64:AQI]", 2, "base64"],
    ["[b64:A-_D]", 2, "base64"],
    ["[1e999]", 2, "use Infinity"],
    ["[9007199254740993]", 2, "add an n for a bigint"],
    ['["\\x"]', 2, "not a valid JSON string"],
    ['["\\ud800"]', 2, "lone surrogate"],
    ["['users']", 2, "expected a part of the key"],
  ])("refuses %s at character %i", (text, position, reason) => {
    let error: unknown;
    try {
      parseKey(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(KeyNotationError);
    expect(error).toMatchObject({
      code: "KW_KEY_NOTATION",
      text,
      position,
      reason: expect.stringContaining(reason),
    });
  });
});
