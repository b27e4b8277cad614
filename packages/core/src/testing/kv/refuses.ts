import assert from "node:assert/strict";

/** Fails unless the call throws an instance of `expected`, or its promise rejects with one. */
export async function refuses(
  call: () => unknown,
  expected: new (...args: never[]) => Error = Error,
): Promise<void> {
  await assert.rejects(async () => await call(), expected);
}
