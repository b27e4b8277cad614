import { isKeywrightError } from "@keywright/core";

/** Whether a read was refused because its database is closed: ours, Deno's, or that of `@deno/kv`. */
export function isClosedError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isKeywrightError(error)) return error.code === "KW_DATABASE_CLOSED";
  // The latter has no class or code for it.
  return error.name === "BadResource" || error.message.includes("after '.close' is called");
}
