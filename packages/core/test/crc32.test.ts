import { Buffer } from "node:buffer";
import { crc32 as zlibCrc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32 } from "../src/bytes/crc32.js";

describe("crc32", () => {
  it("has the check value of CRC-32/ISO-HDLC", () => {
    expect(crc32(Buffer.from("123456789"))).toBe(0xcbf43926);
  });

  it("is zlib's, of every length, and continuing from any CRC", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.uint8Array({ minLength: 200, maxLength: 600, size: "max" }),
    );
    fc.assert(
      fc.property(bytes, fc.nat(0xffffffff), (bytes, previous) => {
        expect(crc32(bytes)).toBe(zlibCrc32(bytes));
        expect(crc32(bytes, 0, bytes.length, previous)).toBe(zlibCrc32(bytes, previous));
      }),
      { numRuns: 1000 },
    );
  });

  it("of two stretches, one after the other, is that of both together", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300, size: "max" }), fc.nat(300), (bytes, cut) => {
        const middle = Math.min(cut, bytes.length);
        const first = crc32(bytes, 0, middle);
        expect(crc32(bytes, middle, bytes.length, first)).toBe(crc32(bytes));
      }),
    );
  });
});
