import { DatabaseClosedError } from "../../errors/core-errors.js";
import type { KeywrightError, KeywrightTypeError } from "../../errors/keywright-error.js";

/** Keywright's own error for what Deno has another for. */
export type OwnError = KeywrightError | KeywrightTypeError;

/**
 * An error of the class and with the text that Deno KV has for it. Of Keywright's own error, which is its `cause`, it has
 * the `code` and the fields. The texts are those of Deno 2.9.6 (`ext/kv/01_db.ts` and `ext/kv/lib.rs` of denoland/deno).
 */
export function denoError(
  own: OwnError,
  message: string,
  type: ErrorConstructor | RangeErrorConstructor | TypeErrorConstructor = TypeError,
): Error {
  return withFieldsOf(own, new type(message, { cause: own }));
}

/** What Deno throws for everything after `close()`: there it is `Deno.errors.BadResource`. */
export class BadResource extends Error {
  constructor() {
    const own = new DatabaseClosedError();
    super("Bad resource ID", { cause: own });
    this.name = "BadResource";
    withFieldsOf(own, this);
  }
}

/** Not enumerable: an error of Deno's shows nothing beside its message. */
function withFieldsOf(own: OwnError, error: Error): Error {
  for (const [name, value] of Object.entries(own)) {
    if (name !== "name") Object.defineProperty(error, name, { value });
  }
  return error;
}
