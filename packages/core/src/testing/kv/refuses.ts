import assert from "node:assert/strict";

/** Fails unless a call throws, at once or by its promise: an error, or where a class is given, one of that. */
export async function refuses(
  call: () => unknown,
  expected: new (...args: never[]) => Error = Error,
): Promise<void> {
  await assert.rejects(async () => await call(), expected);
}
