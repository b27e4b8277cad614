import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  type CommitRecord,
  decodeCommitRecord,
  encodeCommitRecord,
  noVersionstamp,
  verifyCommitRecords,
} from "../src/engine/level/commit-record.js";
import { commitRecordKey, commitRecordSlots } from "../src/engine/level/reserved-keys.js";
import { CorruptionError, DatabaseFormatError } from "../src/errors/core-errors.js";
import { formatVersionstamp } from "../src/values/versionstamp.js";

/** The records that groups `from` to `to` leave behind. */
function chain(from: number, to: number): CommitRecord[] {
  const records: CommitRecord[] = [];
  for (let sequence = from; sequence <= to; sequence++) {
    records.push({
      last: formatVersionstamp(sequence, sequence % 3),
      previous:
        sequence === 1 ? noVersionstamp : formatVersionstamp(sequence - 1, (sequence - 1) % 3),
      mutations: 1,
    });
  }
  return records;
}

describe("a commit record", () => {
  const record = {
    last: formatVersionstamp(0x8123, 4),
    previous: formatVersionstamp(0x8122, 0),
    mutations: 70_000,
  };

  it("is a format byte, two versionstamps, a count and a checksum, under a key of its slot", () => {
    const { key, value } = encodeCommitRecord(record);
    const body = `01${record.last}${record.previous}00011170`;
    const checksum = crc32(Buffer.from(body, "hex"), crc32(key)).toString(16).padStart(8, "0");
    expect(Buffer.from(key).toString("hex")).toBe("00020123");
    expect(Buffer.from(value).toString("hex")).toBe(body + checksum);
    expect(decodeCommitRecord(key, value)).toEqual(record);
  });

  it("with any bit flipped is damaged", () => {
    const { key, value } = encodeCommitRecord(record);
    for (let bit = 0; bit < value.length * 8; bit++) {
      const damaged = value.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => decodeCommitRecord(key, damaged)).toThrow(CorruptionError);
    }
  });

  it("of another slot is damaged", () => {
    const { value } = encodeCommitRecord(record);
    expect(() => decodeCommitRecord(commitRecordKey(0x124), value)).toThrow(CorruptionError);
  });

  it("of a later format is said to be that", () => {
    const { key, value } = encodeCommitRecord(record);
    value[0] = 2;
    const end = value.length - 4;
    new DataView(value.buffer).setUint32(end, crc32(value.subarray(0, end), crc32(key)));
    expect(() => decodeCommitRecord(key, value)).toThrow(DatabaseFormatError);
  });

  it("has one of 32768 slots, which come round", () => {
    expect(commitRecordSlots).toBe(32_768);
    const keys = new Set<string>();
    for (let sequence = 1; sequence <= commitRecordSlots; sequence++)
      keys.add(Buffer.from(commitRecordKey(sequence)).toString("hex"));
    expect(keys.size).toBe(commitRecordSlots);
    expect(commitRecordKey(commitRecordSlots + 5)).toEqual(commitRecordKey(5));
  });
});

describe("verifyCommitRecords", () => {
  it("gives the last versionstamp, in whichever order the records come", () => {
    expect(verifyCommitRecords([])).toBe(noVersionstamp);
    expect(verifyCommitRecords(chain(1, 1))).toBe(formatVersionstamp(1, 1));
    expect(verifyCommitRecords(chain(1, 50).reverse())).toBe(formatVersionstamp(50, 2));
  });

  it("tells where one is missing from the middle", () => {
    for (let missing = 0; missing < 19; missing++) {
      const records = chain(1, 20);
      records.splice(missing, 1);
      expect(() => verifyCommitRecords(records)).toThrow(CorruptionError);
    }
  });

  it("tells where one does not follow the one before it", () => {
    const records = chain(1, 5);
    records[3] = { ...records[3]!, previous: formatVersionstamp(3, 9) };
    expect(() => verifyCommitRecords(records)).toThrow(CorruptionError);
  });

  it("knows that the oldest make room for the newest", () => {
    const newest = commitRecordSlots + 10;
    expect(verifyCommitRecords(chain(11, newest))).toBe(formatVersionstamp(newest, newest % 3));
    expect(() => verifyCommitRecords(chain(12, newest))).toThrow(CorruptionError);
    expect(() => verifyCommitRecords(chain(2, 20))).toThrow(CorruptionError);
  });
});
