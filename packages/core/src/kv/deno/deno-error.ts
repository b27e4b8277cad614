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

/** The error for operations on a closed database. In Deno it is `Deno.errors.BadResource`. */
export class BadResource extends Error {
  constructor() {
    const own = new DatabaseClosedError();
    super("Bad resource ID", { cause: own });
    this.name = "BadResource";
    withFieldsOf(own, this);
  }
}

/**
 * Copies the fields of `own` to an error. They are not enumerable, because an error of Deno shows
 * only its message.
 */
function withFieldsOf(own: OwnError, error: Error): Error {
  for (const [name, value] of Object.entries(own)) {
    if (name !== "name") Object.defineProperty(error, name, { value });
  }
  return error;
}
