import { bytesToHex, writeHex } from "../bytes/hex.js";
import { InvalidVersionstampError } from "../errors/core-errors.js";

/** Bytes of a versionstamp; as text it has two lower-case hexadecimal digits a byte. */
export const versionstampBytes = 10;
/** How many commits one group can hold: the last two bytes of a versionstamp are the order within a group. */
export const maxGroupSize = 0x10000;

/**
 * A versionstamp: 8 bytes of group sequence, then 2 bytes of order within the group, big-endian, so that the order of
 * the texts is the order of the commits.
 */
export function formatVersionstamp(sequence: number, order: number): string {
  return sequence.toString(16).padStart(16, "0") + order.toString(16).padStart(4, "0");
}

/** The group sequence of a versionstamp that {@link formatVersionstamp} made. */
export function sequenceOfVersionstamp(versionstamp: string): number {
  return Number.parseInt(versionstamp.slice(0, 16), 16);
}

/** Reads the versionstamp at `offset` of stored bytes. */
export function readVersionstamp(bytes: Uint8Array, offset: number): string {
  return bytesToHex(bytes, offset, offset + versionstampBytes);
}

/** Writes a versionstamp's bytes at `offset` of `target`. */
export function writeVersionstamp(versionstamp: string, target: Uint8Array, offset: number): void {
  writeHex(versionstamp, target, offset);
}

/**
 * @throws {InvalidVersionstampError} unless `versionstamp` is 20 lower-case hexadecimal digits.
 */
export function assertVersionstamp(versionstamp: unknown): asserts versionstamp is string {
  if (typeof versionstamp !== "string" || !/^[0-9a-f]{20}$/.test(versionstamp)) {
    throw new InvalidVersionstampError(versionstamp);
  }
}
