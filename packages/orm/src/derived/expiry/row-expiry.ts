import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import { currentTime, storedTime, type Time } from "../../model/rows/time.js";
import { count, is } from "../../model/shape.js";
import { readSystemValue, type SystemShape } from "../../state/catalog/system-value.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadView } from "../../state/context/read-view.js";

/**
 * Returns the key under which the expiry time of a row is recorded, in milliseconds since 1970, if
 * the database does not report it. The record is written with the row and expires with it.
 */
export function expiryKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [systemPrefix, "expiry", model.prefix, ...primaryKey];
}

/** The largest time that an expiry may have, counted from now: see `KvSetOptions.expireIn`. */
const maxLifetime = 8.64e15;

/** When a row expires, in milliseconds since 1970. */
const expiryShape: SystemShape<number> = {
  problemOf: is((value) => count(value) === undefined && (value as number) <= 2 * maxLifetime),
  remedy: "delete it, and set the expiry of the row again",
};

/** True if the expiry times of the model's rows are recorded under {@link expiryKey}. */
export function keepsExpiry({ capabilities, snapshot }: ReadView): boolean {
  return snapshot.entry.expires === true && !capabilities.returnsExpiry;
}

/** Returns when a row expires. Undefined if it does not expire. */
export function rowExpireAt(
  view: ReadView,
  row: Pick<FoundRow, "primaryKey" | "expireAt">,
): Time | undefined | Promise<Time | undefined> {
  return keepsExpiry(view) ? readExpireAt(view, row.primaryKey) : row.expireAt;
}

async function readExpireAt(
  { kv, model }: ReadView,
  primaryKey: readonly KvKeyPart[],
): Promise<Time | undefined> {
  const key = expiryKey(model, primaryKey);
  return storedTime((await readSystemValue(kv, key, expiryShape, model.name)) ?? undefined);
}

/**
 * Returns the row that a write has found, with its recorded expiry time. Undefined if it has
 * expired, because the database may remove it at any moment.
 */
export function unexpired(
  view: ReadView,
  found: FoundRow | undefined,
): FoundRow | undefined | Promise<FoundRow | undefined> {
  if (found === undefined || !keepsExpiry(view)) return found;
  if (found.expireAt !== undefined) return withExpireAt(found, found.expireAt);
  return readExpireAt(view, found.primaryKey).then((expireAt) => withExpireAt(found, expireAt));
}

function withExpireAt(found: FoundRow, expireAt: Time | undefined): FoundRow | undefined {
  if (expireAt === undefined) return found;
  return expireAt <= currentTime() ? undefined : { ...found, expireAt };
}

/** True if a row has expired. Always false if the database never returns expired rows. */
export async function hasExpired(
  view: ReadView,
  primaryKey: readonly KvKeyPart[],
): Promise<boolean> {
  if (!keepsExpiry(view)) return false;
  const expireAt = await readExpireAt(view, primaryKey);
  return expireAt !== undefined && expireAt <= currentTime();
}
