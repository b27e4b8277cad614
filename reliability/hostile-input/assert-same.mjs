/** Throws an error without a code if what was decoded encodes to other bytes. */
export function assertSame(actual, expected) {
  if (Buffer.compare(actual, expected) === 0) return;
  throw new Error(
    `it encodes to ${Buffer.from(actual).toString("hex")} and not to ${Buffer.from(expected).toString("hex")}`,
  );
}
