/** Returns a text with exactly one full stop at its end. */
export function sentence(text: string): string {
  return `${text.replace(/[.\s]+$/, "")}.`;
}

/** Returns the call and the database of a message: `get: the database at /data`. */
export function databaseOf(operation: string | undefined, path: string | undefined): string {
  const place = path === undefined ? "" : ` at ${path}`;
  return operation === undefined ? `The database${place}` : `${operation}: the database${place}`;
}

/**
 * Returns the first line of an error's message as the last sentence of another message, or an empty
 * string if there is no error.
 */
export function causeSentence(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  // A failed read may cause a failed commit. Its message would repeat the advice.
  const isEngineFailure = (cause as { code?: unknown }).code === "KW_ENGINE_FAILED";
  if (isEngineFailure) return causeSentence(cause.cause);
  const [firstLine = ""] = cause.message.split("\n");
  return firstLine === "" ? "" : ` Cause: ${sentence(firstLine)}`;
}

/** Returns what is wrong with a versionstamp, without the versionstamp itself. */
export function versionstampReason(versionstamp: unknown): string {
  if (versionstamp === undefined) return "it is undefined";
  if (typeof versionstamp === "object") return "it is an object";
  if (typeof versionstamp !== "string") return `it is a ${typeof versionstamp}`;
  if (versionstamp.length !== 20) return `its length is ${versionstamp.length}`;
  return "it has a character other than 0-9 and a-f";
}
