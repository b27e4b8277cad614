import assert from "node:assert/strict";

/** Fails unless all values are versionstamps, each later than the one before it. */
export function assertStrictlyIncreasing(stamps: readonly unknown[]): void {
  for (const [index, stamp] of stamps.entries()) {
    assert.match(String(stamp), /^[0-9a-f]{20}$/);
    if (index > 0)
      assert.ok(String(stamps[index - 1]) < String(stamp), `${index}: ${String(stamp)}`);
  }
}
