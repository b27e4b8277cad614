import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assertVersionstamp,
  formatVersionstamp,
  maxGroupSize,
  readVersionstamp,
  sequenceOfVersionstamp,
  versionstampBytes,
  writeVersionstamp,
} from "../src/values/versionstamp.js";

const sequence = fc.oneof(fc.nat(), fc.maxSafeNat());
const order = fc.nat(maxGroupSize - 1);

describe("a versionstamp", () => {
  it("is 20 lower-case hexadecimal digits: the sequence, then the order within the group", () => {
    expect(formatVersionstamp(1, 0)).toBe("00000000000000010000");
    expect(formatVersionstamp(0x2fa526aaccb, 0)).toBe("000002fa526aaccb0000");
    expect(formatVersionstamp(Number.MAX_SAFE_INTEGER, maxGroupSize - 1)).toBe(
      "001fffffffffffffffff",
    );
  });

  it("sorts as text in the order of sequence, then order", () => {
    fc.assert(
      fc.property(sequence, order, sequence, order, (s1, o1, s2, o2) => {
        const first = formatVersionstamp(s1, o1);
        const second = formatVersionstamp(s2, o2);
        expect(Math.sign(Buffer.compare(Buffer.from(first), Buffer.from(second)))).toBe(
          Math.sign(s1 - s2 || o1 - o2),
        );
        expect(first).toHaveLength(versionstampBytes * 2);
        expect(() => assertVersionstamp(first)).not.toThrow();
        expect(sequenceOfVersionstamp(first)).toBe(s1);
      }),
    );
  });

  it("is written as ten bytes, and read again", () => {
    fc.assert(
      fc.property(sequence, order, fc.nat(5), (s, o, offset) => {
        const versionstamp = formatVersionstamp(s, o);
        const bytes = new Uint8Array(versionstampBytes + 7).fill(0xee);
        writeVersionstamp(versionstamp, bytes, offset);
        expect(Buffer.from(bytes.subarray(offset, offset + 10)).toString("hex")).toBe(versionstamp);
        expect(readVersionstamp(bytes, offset)).toBe(versionstamp);
        expect(
          bytes.filter((byte, i) => byte !== 0xee && (i < offset || i >= offset + 10)),
        ).toHaveLength(0);
      }),
    );
  });

  it.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a number", 1],
    ["an empty text", ""],
    ["19 digits", "0".repeat(19)],
    ["21 digits", "0".repeat(21)],
    ["24 digits", "0".repeat(24)],
    ["capital letters", "0000000000000000000A"],
    ["another letter", "0000000000000000000g"],
    ["a line break after it", `${"0".repeat(20)}\n`],
    ["a line break in front", `\n${"0".repeat(20)}`],
    ["a list of one", ["0".repeat(20)]],
  ])("is not %s", (_name, versionstamp) => {
    const check = () => assertVersionstamp(versionstamp);
    expect(check).toThrow(TypeError);
    expect(check).toThrow(
      expect.objectContaining({ code: "KW_VERSIONSTAMP_INVALID", versionstamp }),
    );
  });
});
