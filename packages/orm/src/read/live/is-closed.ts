import { isKeywrightError, type Kv } from "@keywright/core";

/** True if a database that refuses calls after it was closed is closed. Nothing is read. */
export function isClosed(kv: Kv): boolean {
  try {
    kv.list({ prefix: ["__keywright"] });
    return false;
  } catch (error) {
    return isClosedError(error);
  }
}

/** True if a call failed because its database, embedded, of Deno or of `@deno/kv`, is closed. */
export function isClosedError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isKeywrightError(error)) return error.code === "KW_DATABASE_CLOSED";
  // `@deno/kv` has no class and no code for this error.
  return error.name === "BadResource" || error.message.includes("after '.close' is called");
}
