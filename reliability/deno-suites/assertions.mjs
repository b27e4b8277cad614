// The assertions that the suites of Deno and denokv use, by their names there, in the place of
// those of Deno's standard library.
import assert, { AssertionError, deepStrictEqual, notDeepStrictEqual } from "node:assert";
import { inspect } from "node:util";

export { AssertionError, assert };
/** Only in types. */
export const IsExact = undefined;

export function assertType() {
  return undefined;
}

export function assertEquals(actual, expected, message) {
  deepStrictEqual(actual, expected, message);
}

export function assertNotEquals(actual, expected, message) {
  notDeepStrictEqual(actual, expected, message);
}

export function assertExists(actual, message) {
  assert(actual !== undefined && actual !== null, message);
}

export function assertFalse(actual, message) {
  assert(!actual, message);
}

export function assertMatch(actual, pattern, message) {
  assert.match(actual, pattern, message);
}

/** Without a class, the second argument is the message. */
export function assertThrows(run, expected, text) {
  let result;
  try {
    result = run();
  } catch (error) {
    return assertError(error, expected, text);
  }
  throw new AssertionError({ message: `it returned ${inspect(result)} and should throw` });
}

export async function assertRejects(run, expected, text) {
  let result;
  try {
    result = await run();
  } catch (error) {
    return assertError(error, expected, text);
  }
  throw new AssertionError({ message: `it returned ${inspect(result)} and should reject` });
}

function assertError(error, expected, text) {
  if (typeof expected !== "function") return error;
  if (!(error instanceof expected) || (text !== undefined && !error.message.includes(text)))
    throw new AssertionError({
      message: `it threw ${error?.constructor?.name}: ${error?.message}, and should throw ${expected.name}: ${text ?? ""}`,
    });
  return error;
}
