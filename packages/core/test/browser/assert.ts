// The functions of `node:assert/strict` that the contract suites call, for browsers.
import { expect } from "vitest";

type Expected = RegExp | object | ((error: unknown) => boolean);

function ok(value: unknown, message?: string): asserts value {
  expect(value, message).toBeTruthy();
}

function check(error: unknown, expected: Expected | undefined): void {
  if (expected === undefined || typeof expected === "string") return;
  if (expected instanceof RegExp) expect(String(error)).toMatch(expected);
  else if (typeof expected !== "function") expect(error).toMatchObject(expected);
  else if (expected.prototype instanceof Error || expected === Error)
    expect(error).toBeInstanceOf(expected);
  else ok((expected as (error: unknown) => boolean)(error));
}

async function rejects(
  call: Promise<unknown> | (() => Promise<unknown>),
  expected?: Expected,
): Promise<void> {
  let error: unknown;
  let hasFailed = false;
  try {
    await (typeof call === "function" ? call() : call);
  } catch (reason) {
    [error, hasFailed] = [reason, true];
  }
  expect(hasFailed, "the call was expected to fail").toBe(true);
  check(error, expected);
}

function throws(call: () => unknown, expected?: Expected): void {
  let error: unknown;
  let hasFailed = false;
  try {
    call();
  } catch (reason) {
    [error, hasFailed] = [reason, true];
  }
  expect(hasFailed, "the call was expected to fail").toBe(true);
  check(error, expected);
}

export default {
  ok,
  rejects,
  throws,
  equal: (actual: unknown, expected: unknown, message?: string) =>
    expect(actual, message).toBe(expected),
  notEqual: (actual: unknown, expected: unknown, message?: string) =>
    expect(actual, message).not.toBe(expected),
  deepEqual: (actual: unknown, expected: unknown, message?: string) =>
    expect(actual, message).toStrictEqual(expected),
  match: (actual: string, expected: RegExp, message?: string) =>
    expect(actual, message).toMatch(expected),
  fail: (message?: string): never => expect.unreachable(message),
};
