import { DatabaseClosedError } from "../../errors/core-errors.js";
import type { KeywrightError, KeywrightTypeError } from "../../errors/keywright-error.js";

export type OwnError = KeywrightError | KeywrightTypeError;

/**
 * Returns an error with the class and the text of Deno KV. Its `cause` is Keywright's own error,
 * and it has the `code` and the fields of that error. The texts are those of Deno 2.9.6
 * (`ext/kv/01_db.ts` and `ext/kv/lib.rs` of denoland/deno).
 */
export function denoError(
  own: OwnError,
  message: string,
  type: ErrorConstructor | RangeErrorConstructor | TypeErrorConstructor = TypeError,
): Error {
  return withFieldsOf(own, new type(message, { cause: own }));
}

/** The class of {@link badResource} in a runtime that does not have Deno's. */
class BadResource extends Error {
  override name = "BadResource";
}

/** Returns the error for operations on a closed database: a `Deno.errors.BadResource` in Deno. */
export function badResource(): Error {
  // Through `unknown`, because Deno's own types give the class another constructor.
  const { Deno } = globalThis as unknown as {
    Deno?: { errors?: { BadResource?: ErrorConstructor } };
  };
  return denoError(
    new DatabaseClosedError(),
    "Bad resource ID",
    Deno?.errors?.BadResource ?? (BadResource as ErrorConstructor),
  );
}

/** Copies fields, not enumerable: an error of Deno shows only its message. */
function withFieldsOf(own: OwnError, error: Error): Error {
  for (const [name, value] of Object.entries(own)) {
    if (name !== "name") Object.defineProperty(error, name, { value });
  }
  return error;
}
