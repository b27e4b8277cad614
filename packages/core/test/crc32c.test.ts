import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32c } from "../src/bytes/crc32c.js";

/** The definition of the CRC, one bit at a time. */
function slowCrc32c(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

describe("crc32c", () => {
  it("has the check value of CRC-32C, and the values of RFC 3720", () => {
    expect(crc32c(new TextEncoder().encode("123456789"))).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
  });

  it("follows the definition for every part of any bytes", () => {
    const bytes = fc.uint8Array({ maxLength: 300, size: "max" });
    fc.assert(
      fc.property(bytes, fc.nat(300), fc.nat(300), (bytes, a, b) => {
        const start = Math.min(a, b, bytes.length);
        const end = Math.min(Math.max(a, b), bytes.length);
        expect(crc32c(bytes, start, end)).toBe(slowCrc32c(bytes.subarray(start, end)));
      }),
    );
  });
});
