import type { Kv, KvKey } from "@keywright/core";
import { SystemEntryError } from "../../errors/schema-errors.js";
import type { Shape } from "../../model/shape.js";

/** An entry that only Keywright writes: its shape, and what to do if it is damaged. */
export interface SystemShape<T> {
  readonly problemOf: Shape;
  readonly remedy: string;
  /** Carries the type of the values. It has no value. */
  readonly type?: T;
}

/** What is stored under a key. Without a versionstamp, nothing is. */
interface StoredEntry {
  readonly key: KvKey;
  readonly value: unknown;
  readonly versionstamp: string | null;
}

/**
 * Returns the value of an entry that only Keywright writes, or null if there is no such entry. An
 * import or another program may have stored something else there.
 *
 * @throws {SystemEntryError} if the value does not have the shape.
 */
export function systemValue<T>(
  { key, value, versionstamp }: StoredEntry,
  { problemOf, remedy }: SystemShape<T>,
  model: string,
): T | null {
  if (versionstamp === null) return null;
  const problem = problemOf(value);
  if (problem !== undefined) throw new SystemEntryError(model, key, problem, remedy);
  return value as T;
}

/** Reads an entry as {@link systemValue} does. */
export async function readSystemValue<T>(
  kv: Pick<Kv, "get">,
  key: KvKey,
  shape: SystemShape<T>,
  model: string,
): Promise<T | null> {
  return systemValue(await kv.get(key), shape, model);
}
