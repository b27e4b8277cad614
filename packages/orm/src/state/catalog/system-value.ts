import type { KvEntryMaybe } from "@keywright/core";
import { SystemEntryError } from "../../errors/schema-errors.js";
import type { SystemShape } from "./system-shapes.js";

/**
 * Returns the value of an entry that only Keywright writes, or null if there is no such entry. An
 * import or another program may have stored something else there.
 *
 * @throws {SystemEntryError} if the value does not have the shape.
 */
export function systemValue<T>(
  { key, value, versionstamp }: KvEntryMaybe<unknown>,
  { problemOf, remedy }: SystemShape,
  model: string,
): T | null {
  if (versionstamp === null) return null;
  const problem = problemOf(value);
  if (problem !== undefined) throw new SystemEntryError(model, key, problem, remedy);
  return value as T;
}
