import type { AtomicOperation, KvKey, KvKeyPart } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import { expiryShape } from "../../catalog/system-shapes.js";
import { systemValue } from "../../catalog/system-value.js";
import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import {
  currentTime,
  lifetimeOf,
  type RowExpiry,
  storedTime,
  type Time,
  timeAfter,
} from "../../model/rows/time.js";
import { type SetUntilOptions, setUntil } from "../../transaction/buffer/set-until.js";

/**
 * Returns the key under which the expiry time of a row is recorded, in milliseconds since 1970, if
 * the database does not report it. The record is written with the row and expires with it.
 */
export function expiryKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [systemPrefix, "expiry", model.prefix, ...primaryKey];
}

/** True if the expiry times of the model's rows are recorded under {@link expiryKey}. */
export function keepsExpiry({ catalog }: TableContext, { entry }: CatalogSnapshot): boolean {
  return entry.expires === true && !catalog.capabilities.returnsExpiry;
}

/** Returns when a row expires that is committed at `now`. */
export function endOf(expiry: RowExpiry, now: Time): Time {
  return expiry.expireAt ?? timeAfter(now, expiry.expireIn);
}

/** Returns when a row expires. Undefined if it does not expire. */
export function rowExpireAt(
  context: TableContext,
  catalog: CatalogSnapshot,
  row: Pick<FoundRow, "primaryKey" | "expireAt">,
): Time | undefined | Promise<Time | undefined> {
  return keepsExpiry(context, catalog) ? readExpireAt(context, row.primaryKey) : row.expireAt;
}

async function readExpireAt(
  { kv, model }: TableContext,
  primaryKey: readonly KvKeyPart[],
): Promise<Time | undefined> {
  const stored = await kv.get(expiryKey(model, primaryKey));
  return storedTime(systemValue<number>(stored, expiryShape, model.name) ?? undefined);
}

/**
 * Returns the row that a write has found, with its recorded expiry time. Undefined if it has
 * expired, because the database may remove it at any moment.
 */
export function unexpired(
  context: TableContext,
  catalog: CatalogSnapshot,
  found: FoundRow | undefined,
): FoundRow | undefined | Promise<FoundRow | undefined> {
  if (found === undefined || !keepsExpiry(context, catalog)) return found;
  if (found.expireAt !== undefined) return withExpireAt(found, found.expireAt);
  return readExpireAt(context, found.primaryKey).then((expireAt) => withExpireAt(found, expireAt));
}

function withExpireAt(found: FoundRow, expireAt: Time | undefined): FoundRow | undefined {
  if (expireAt === undefined) return found;
  return expireAt <= currentTime() ? undefined : { ...found, expireAt };
}

/** True if a row has expired. Always false if the database never returns expired rows. */
export async function hasExpired(
  context: TableContext,
  catalog: CatalogSnapshot,
  primaryKey: readonly KvKeyPart[],
): Promise<boolean> {
  if (!keepsExpiry(context, catalog)) return false;
  const expireAt = await readExpireAt(context, primaryKey);
  return expireAt !== undefined && expireAt <= currentTime();
}

/**
 * Returns the options for setting a row and everything that expires with it, in a commit that is
 * made `now`. If its time is already over, one millisecond is left. The checks of the commit detect
 * a row that has gone in the meantime.
 */
export function expiryOptions(
  expiry: RowExpiry | undefined,
  now: Time,
): SetUntilOptions | undefined {
  if (expiry === undefined) return undefined;
  return expiry.expireAt === undefined
    ? { expireIn: expiry.expireIn }
    : setUntil(expiry.expireAt, now);
}

/** Records when a row expires, or deletes the record if the row does not expire. */
export function recordExpiry(
  operation: AtomicOperation,
  key: KvKey,
  options: SetUntilOptions | undefined,
  now: Time,
): void {
  if (options?.expireIn === undefined) operation.delete(key);
  else
    operation.set(key, options.expireAt ?? timeAfter(now, lifetimeOf(options.expireIn)), options);
}
