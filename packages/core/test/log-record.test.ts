import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ChangeToLog,
  decodeLogRecord,
  encodeLogRecord,
} from "../src/engine/log/log-record.js";
import { CorruptionError, DatabaseFormatError } from "../src/errors/core-errors.js";
import { appendVersionstampPart } from "../src/keys/encode-key.js";
import { formatVersionstamp } from "../src/values/versionstamp.js";

const versionstamp = "00000000000000070001";
const key = Uint8Array.of(2, 0x61, 0);
const value = Uint8Array.of(0x01, 0xa1, 0x61);

describe("a record of the log", () => {
  const before = { value, versionstamp: "00000000000000060000", expireAt: undefined };
  const expiring = { ...before, expireAt: 1_767_225_600_000 };
  const set = { type: "set", key, before: null, after: { value, expireAt: undefined } } as const;
  const time = 1_767_225_600_000;
  const timeHex = "0000019b76daa800";
  const valueHex = "0301a161";
  const keyHex = "03026100";

  const golden: readonly (readonly [string, ChangeToLog, string])[] = [
    ["a set", set, `20${keyHex}${valueHex}`],
    [
      "a changed value",
      { ...set, before },
      `28${keyHex}00000000000000060000${valueHex}${valueHex}`,
    ],
    [
      "a value that expires",
      { ...set, before: expiring, after: expiring },
      `78${keyHex}00000000000000060000${timeHex}${valueHex}${timeHex}${valueHex}`,
    ],
    [
      "a delete",
      { type: "delete", key, before, after: null },
      `09${keyHex}00000000000000060000${valueHex}`,
    ],
    ["an expiry", { type: "expire", key, before: null, after: null }, `02${keyHex}`],
    [
      "a sum",
      { type: "sum", key, before: null, after: null, operand: 258n },
      `03${keyHex}0000000000000102`,
    ],
    [
      "a key that ends in the versionstamp",
      { ...set, type: "setAtVersionstamp" },
      `26${keyHex}${valueHex}`,
    ],
  ];
  it.each(golden)("of %s has these bytes", (_name, change, hex) => {
    const bytes = encodeLogRecord(time, [change]);
    expect(Buffer.from(bytes).toString("hex")).toBe(`01${timeHex}00${hex}`);
    expect(decodeLogRecord(versionstamp, bytes)).toEqual(recordOf(time, [change]));
  });

  it("of a commit with a context has its bytes before the changes", () => {
    const bytes = encodeLogRecord(time, [set], value);
    expect(Buffer.from(bytes).toString("hex")).toBe(
      `01${timeHex}${valueHex}20${keyHex}${valueHex}`,
    );
    expect(decodeLogRecord(versionstamp, bytes)).toEqual({
      ...recordOf(time, [set]),
      context: value,
    });
  });

  it("is decoded as it was encoded", () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    const times = fc.option(fc.nat(), { nil: undefined });
    const stored = fc.record({
      value: bytes,
      expireAt: times,
      versionstamp: fc.nat(1e6).map((sequence) => formatVersionstamp(sequence, 7)),
    });
    const change: fc.Arbitrary<ChangeToLog> = fc.oneof(
      fc.record({
        type: fc.constantFrom("set", "setAtVersionstamp"),
        key: bytes,
        before: fc.option(stored),
        after: stored,
      }),
      fc.record({
        type: fc.constantFrom("delete", "expire"),
        key: bytes,
        before: fc.option(stored),
        after: fc.constant(null),
      }),
      fc.record({
        type: fc.constantFrom("sum", "min", "max"),
        key: bytes,
        before: fc.constant(null),
        after: fc.constant(null),
        operand: fc.bigInt(0n, 2n ** 64n - 1n),
      }),
    );
    fc.assert(
      fc.property(fc.nat(), fc.array(change), (time, changes) => {
        const encoded = encodeLogRecord(time, changes);
        expect(decodeLogRecord(versionstamp, encoded)).toEqual(recordOf(time, changes));
      }),
    );
  });

  it("that was cut off or has a later format is refused", () => {
    const encoded = encodeLogRecord(time, [{ ...set, before: expiring, after: expiring }]);
    for (let length = 11; length < encoded.length; length++)
      expect(() => decodeLogRecord(versionstamp, encoded.subarray(0, length))).toThrow(
        CorruptionError,
      );
    const later = new Uint8Array(encoded);
    later[0] = 2;
    expect(() => decodeLogRecord(versionstamp, later)).toThrow(DatabaseFormatError);
  });
});

/** Returns what a record of changes is decoded as. */
function recordOf(time: number, changes: readonly ChangeToLog[]): object {
  return {
    versionstamp,
    time,
    changes: changes.map(({ type, key, before, after, operand }) => ({
      type: type === "setAtVersionstamp" ? "set" : type,
      key: type === "setAtVersionstamp" ? appendVersionstampPart(key, versionstamp) : key,
      before,
      after: after && { value: after.value, expireAt: after.expireAt, versionstamp },
      ...(operand !== undefined && { operand }),
    })),
  };
}
