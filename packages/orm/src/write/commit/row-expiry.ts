import type { AtomicOperation, KvKey, KvKeyPart } from "@keywright/core";
import type { CatalogSnapshot } from "../../catalog/catalog-snapshot.js";
import type { FoundRow } from "../../context/any-query.js";
import type { TableContext } from "../../context/table-context.js";
import { type CompiledModel, ownPrefix } from "../../model/compiled-model.js";
import { type SetUntilOptions, setUntil } from "../../transaction/set-until.js";

/**
 * Where it is written when a row expires, in milliseconds since 1970, for databases that do not tell it. It is written with
 * the row and expires with it.
 */
export function expiryKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [ownPrefix, "expiry", model.prefix, ...primaryKey];
}

/** Whether the times at which the model's rows expire are written down beside them. */
export function keepsExpiry({ catalog }: TableContext, { entry }: CatalogSnapshot): boolean {
  return entry.expires === true && !catalog.tellsExpiry;
}

/** How the end of a row is given: so many milliseconds from its commit on, or at a time in milliseconds since 1970. */
export type RowExpiry =
  | { readonly expireIn: number; readonly expireAt?: undefined }
  | { readonly expireIn?: undefined; readonly expireAt: number };

/**
 * When a row expires, in milliseconds since 1970; undefined where it does not. A promise only where that has to be read.
 */
export function rowExpireAt(
  context: TableContext,
  catalog: CatalogSnapshot,
  row: Pick<FoundRow, "primaryKey" | "expireAt">,
): number | undefined | Promise<number | undefined> {
  return keepsExpiry(context, catalog) ? readExpireAt(context, row.primaryKey) : row.expireAt;
}

async function readExpireAt(
  { kv, model }: TableContext,
  primaryKey: readonly KvKeyPart[],
): Promise<number | undefined> {
  const { value } = await kv.get(expiryKey(model, primaryKey));
  return typeof value === "number" ? value : undefined;
}

/**
 * The row that a write finds, with its time where the database does not tell it; undefined where that is over: the database
 * has not cleared the row up yet, and it may go at any moment. A promise only where the time has to be read.
 */
export function unexpired(
  context: TableContext,
  catalog: CatalogSnapshot,
  found: FoundRow | undefined,
): FoundRow | undefined | Promise<FoundRow | undefined> {
  if (found === undefined || !keepsExpiry(context, catalog)) return found;
  if (found.expireAt !== undefined) return withTime(found, found.expireAt);
  return readExpireAt(context, found.primaryKey).then((expireAt) => withTime(found, expireAt));
}

function withTime(found: FoundRow, expireAt: number | undefined): FoundRow | undefined {
  if (expireAt === undefined) return found;
  return expireAt <= Date.now() ? undefined : { ...found, expireAt };
}

/** Whether the time of the row that is under a primary key is over. False where the database clears up at once. */
export async function hasExpired(
  context: TableContext,
  catalog: CatalogSnapshot,
  primaryKey: readonly KvKeyPart[],
): Promise<boolean> {
  if (!keepsExpiry(context, catalog)) return false;
  const expireAt = await readExpireAt(context, primaryKey);
  return expireAt !== undefined && expireAt <= Date.now();
}

/**
 * The options with which a row and all that goes with it are set, by a commit that is made `now`; undefined where the row
 * does not expire. Where its time is over already, it is a millisecond: that the row has gone meanwhile is for the checks
 * of the commit to say.
 */
export function expiryOptions(
  expiry: RowExpiry | undefined,
  now: number,
): SetUntilOptions | undefined {
  if (expiry === undefined) return undefined;
  return expiry.expireAt === undefined
    ? { expireIn: expiry.expireIn }
    : setUntil(expiry.expireAt, now);
}

/** Writes down when a row expires, or that it does not. */
export function recordExpiry(
  operation: AtomicOperation,
  key: KvKey,
  options: SetUntilOptions | undefined,
  now: number,
): void {
  if (options?.expireIn === undefined) operation.delete(key);
  else operation.set(key, options.expireAt ?? now + Math.ceil(options.expireIn), options);
}
