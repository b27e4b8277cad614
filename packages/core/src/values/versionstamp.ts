import { tenBytesToHex, writeHex } from "../bytes/hex.js";
import { InvalidVersionstampError } from "../errors/core-errors.js";

/** As text, a versionstamp has two lower-case hexadecimal digits per byte. */
export const versionstampBytes = 10;
/** The maximum number of commits in one group. Two bytes of a versionstamp count them. */
export const maxGroupSize = 0x10000;

/**
 * Formats a versionstamp: 8 bytes of group sequence, then 2 bytes of order within the group, both
 * big-endian. The order of the texts is the order of the commits.
 */
export function formatVersionstamp(sequence: number, order: number): string {
  return sequence.toString(16).padStart(16, "0") + order.toString(16).padStart(4, "0");
}

export function sequenceOfVersionstamp(versionstamp: string): number {
  return Number.parseInt(versionstamp.slice(0, 16), 16);
}

export function readVersionstamp(bytes: Uint8Array, offset: number): string {
  return tenBytesToHex(bytes, offset);
}

export function writeVersionstamp(versionstamp: string, target: Uint8Array, offset: number): void {
  writeHex(versionstamp, target, offset);
}

/** @throws {InvalidVersionstampError} if `versionstamp` is not 20 lower-case hexadecimal digits. */
export function assertVersionstamp(versionstamp: unknown): asserts versionstamp is string {
  if (typeof versionstamp !== "string" || !/^[0-9a-f]{20}$/.test(versionstamp)) {
    throw new InvalidVersionstampError(versionstamp);
  }
}
