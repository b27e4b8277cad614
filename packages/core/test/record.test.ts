import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeRecord, encodeRecord, recordSize } from "../src/engine/level/record.js";
import { CorruptionError, DatabaseFormatError } from "../src/errors/core-errors.js";
import { formatVersionstamp } from "../src/values/versionstamp.js";

function recordOf(
  key: Uint8Array,
  value: Uint8Array,
  versionstamp: string,
  expireAt?: number,
): Uint8Array {
  const entry = { key, value, versionstamp, expireAt };
  // Memory that is not zero, as a pool hands it out.
  const record = new Uint8Array(recordSize(entry)).fill(0xee);
  encodeRecord(entry, record);
  return record;
}

/** A record with a checksum that matches, whatever stands in it. */
function sealed(key: Uint8Array, body: Uint8Array): Buffer {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body, crc32(key)));
  return Buffer.concat([body, checksum]);
}

const key = Uint8Array.of(2, 0x61, 0);
const versionstamp = "00000000000000070001";

describe("a record", () => {
  it("is a header byte, the versionstamp, the value, and a CRC-32 over the key and these", () => {
    const body = Buffer.from(`10${versionstamp}01a161`, "hex");
    const record = recordOf(key, Uint8Array.of(0x01, 0xa1, 0x61), versionstamp);
    expect(Buffer.from(record).toString("hex")).toBe(sealed(key, body).toString("hex"));
    expect(Buffer.from(record).toString("hex")).toBe(`10${versionstamp}01a161c59aa08c`);
  });

  it("of an entry that expires has the time behind the versionstamp", () => {
    const body = Buffer.from(`11${versionstamp}0000018bcfe5680001a161`, "hex");
    const value = Uint8Array.of(0x01, 0xa1, 0x61);
    const record = recordOf(key, value, versionstamp, 1_700_000_000_000);
    expect(Buffer.from(record).toString("hex")).toBe(sealed(key, body).toString("hex"));
    expect(decodeRecord(key, record)).toEqual({
      key,
      value,
      versionstamp,
      expireAt: 1_700_000_000_000,
    });
  });

  it("comes back, from anywhere in memory", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 20 }),
        fc.uint8Array({ maxLength: 50 }),
        fc.nat(),
        fc.nat(0xffff),
        fc.option(fc.nat(8.64e15), { nil: undefined }),
        fc.nat(9),
        (key, value, sequence, order, expireAt, offset) => {
          const stamp = formatVersionstamp(sequence, order);
          const record = recordOf(key, value, stamp, expireAt);
          const larger = new Uint8Array(record.length + 20).fill(0xee);
          larger.set(record, offset);
          const entry = decodeRecord(key, larger.subarray(offset, offset + record.length));
          expect(entry.key).toBe(key);
          expect(Buffer.from(entry.value).equals(value)).toBe(true);
          expect(entry.versionstamp).toBe(stamp);
          expect(entry.expireAt).toBe(expireAt);
        },
      ),
    );
  });

  it.each([
    ["", undefined],
    ["of an entry that expires, ", 1_700_000_000_000],
  ])("%swith any bit flipped is damaged, never another value", (_name, expireAt) => {
    const hello = Uint8Array.of(1, 0xa5, 0x68, 0x65, 0x6c, 0x6c, 0x6f);
    const record = recordOf(key, hello, versionstamp, expireAt);
    for (let bit = 0; bit < record.length * 8; bit++) {
      const damaged = record.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      const decode = () => decodeRecord(key, damaged);
      expect(decode).toThrow(CorruptionError);
      expect(decode).toThrow(expect.objectContaining({ code: "KW_CORRUPTION", key }));
    }
  });

  it("under a key with any bit flipped is damaged", () => {
    const record = recordOf(key, Uint8Array.of(1, 0xc0), versionstamp);
    for (let bit = 0; bit < key.length * 8; bit++) {
      const other = key.slice();
      other[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => decodeRecord(other, record)).toThrow(CorruptionError);
    }
  });

  it("cut short or with a byte too many is damaged", () => {
    const record = recordOf(key, Uint8Array.of(1, 0xc0), versionstamp);
    for (let size = 0; size < record.length; size++)
      expect(() => decodeRecord(key, record.subarray(0, size))).toThrow(CorruptionError);
    expect(() => decodeRecord(key, Buffer.concat([record, Uint8Array.of(0)]))).toThrow(
      CorruptionError,
    );
  });

  it("too short for a versionstamp is damaged, though its checksum matches", () => {
    expect(() => decodeRecord(key, sealed(key, Uint8Array.of(0x10, 1, 2)))).toThrow(
      CorruptionError,
    );
    expect(() => decodeRecord(key, sealed(key, new Uint8Array(0)))).toThrow(CorruptionError);
  });

  it.each(["20", "12", "00"])(
    "of format %s, which is a later one's, is said to be that",
    (header) => {
      const body = Buffer.from(`${header}${versionstamp}c0`, "hex");
      expect(() => decodeRecord(key, sealed(key, body))).toThrow(DatabaseFormatError);
    },
  );

  it("too short for the time of its expiry is damaged, though its checksum matches", () => {
    const body = Buffer.from(`11${versionstamp}00000000`, "hex");
    expect(() => decodeRecord(key, sealed(key, body))).toThrow(CorruptionError);
  });
});
