import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { CorruptionError, DatabaseFormatError } from "@keywright/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeRecord, encodeRecord, recordBounds } from "../src/record/entry-record.js";
import { KeySpace } from "../src/record/key-space.js";
import { firstReservedPosition, formatStamp, parseStamp } from "../src/record/stamp.js";

const key = Buffer.from("02610062", "hex");
const value = Uint8Array.of(1, 2, 3);

const stamps = fc.record({
  revision: fc.integer({ min: 1, max: 2 ** 40 }),
  position: fc.integer({ min: 0, max: 0xffff }),
});
const times = fc.integer({ min: 0, max: 8.64e15 });

describe("a record", () => {
  it("has a frozen format", () => {
    const hex = (position: number, expireAt: number | undefined) =>
      encodeRecord(key, value, { stamp: { revision: 5, position }, expireAt }).toString("hex");
    expect(hex(1, undefined)).toBe("010001ffffffffffffffff01020326885675");
    expect(hex(1, 1_700_000_000_000)).toBe("0100010000018bcfe568000102031cd7ecf7");
    expect(hex(0x8001, undefined)).toBe("0180010000000000000005ffffffffffffffff0102037adef49f");
  });

  it("is decoded as it was encoded", () => {
    fc.assert(
      fc.property(stamps, fc.uint8Array(), fc.option(times, { nil: undefined }), (...record) => {
        const [stamp, bytes, expireAt] = record;
        const encoded = encodeRecord(key, bytes, { stamp, expireAt });
        const decoded = decodeRecord(key, { value: encoded, modRevision: stamp.revision });
        expect({ ...decoded, value: [...decoded.value] }).toEqual({
          key,
          value: [...bytes],
          versionstamp: formatStamp(stamp),
          expireAt,
        });
      }),
    );
  });

  it("is refused if a bit of it or its key has flipped", () => {
    const record = encodeRecord(key, value, {
      stamp: { revision: 5, position: 1 },
      expireAt: undefined,
    });
    for (let bit = 0; bit < record.length * 8; bit++) {
      const damaged = Buffer.from(record);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => decodeRecord(key, { value: damaged, modRevision: 5 })).toThrow(CorruptionError);
    }
    const otherKey = Buffer.from("02610063", "hex");
    expect(() => decodeRecord(otherKey, { value: record, modRevision: 5 })).toThrow(
      CorruptionError,
    );
    expect(() => decodeRecord(key, { value: Buffer.of(1), modRevision: 5 })).toThrow(
      CorruptionError,
    );
  });

  it("is refused if it has a later format", () => {
    const later = Buffer.from("02000affffffffffffffff00000000", "hex");
    later.writeUInt32BE(crc32(later.subarray(0, -4), crc32(key)), later.length - 4);
    expect(() => decodeRecord(key, { value: later, modRevision: 5 })).toThrow(DatabaseFormatError);
  });

  it("is damaged if it is too short, though its checksum matches", () => {
    for (const head of ["", "01", "0100", "010001", "01ffff00000000", "010001ffffffffffffff"]) {
      const short = Buffer.from(`${head}00000000`, "hex");
      short.writeUInt32BE(crc32(short.subarray(0, -4), crc32(key)), short.length - 4);
      const decode = () => decodeRecord(key, { value: short, modRevision: 5 });
      expect(decode).toThrow(head === "" ? DatabaseFormatError : CorruptionError);
    }
  });

  it("is between the bounds of its own versionstamp until it expires, and of no other", () => {
    fc.assert(
      fc.property(
        stamps,
        stamps,
        fc.option(times, { nil: undefined }),
        times,
        fc.uint8Array(),
        (stamp, other, expireAt, now, bytes) => {
          const record = encodeRecord(key, bytes, { stamp, expireAt });
          const isWithin = (bounds: ReturnType<typeof recordBounds>) =>
            record.compare(bounds.above) > 0 && record.compare(bounds.below) < 0;
          expect(isWithin(recordBounds(stamp, now))).toBe(expireAt === undefined || expireAt > now);
          const isReserved = other.position >= firstReservedPosition;
          const isSame =
            other.position === stamp.position && (!isReserved || other.revision === stamp.revision);
          if (!isSame) expect(isWithin(recordBounds(other, now))).toBe(false);
        },
      ),
    );
  });
});

describe("a versionstamp", () => {
  it("is read as it was formatted, and its text sorts as it does", () => {
    fc.assert(
      fc.property(stamps, stamps, (a, b) => {
        expect(parseStamp(formatStamp(a))).toEqual(a);
        const order = a.revision - b.revision || a.position - b.position;
        expect(Math.sign(order)).toBe(
          formatStamp(a) < formatStamp(b) ? -1 : Number(formatStamp(a) > formatStamp(b)),
        );
      }),
    );
  });
});

describe("the keys of a database", () => {
  it("are apart from those of a database whose prefix begins with the same text", () => {
    const a = new KeySpace("a");
    const b = new KeySpace("ab");
    for (const bytes of [Uint8Array.of(0), Uint8Array.of(0xff, 0xff), key]) {
      const full = b.keyOf(bytes);
      const isInA = full.compare(a.all.key) >= 0 && full.compare(a.all.rangeEnd) < 0;
      expect(isInA).toBe(false);
      expect(b.entryKeyOf(full)).toEqual(Buffer.from(bytes));
    }
  });
});
