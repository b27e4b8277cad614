import type { KvKey, KvKeyPart, KvMutation } from "@keywright/core";
import type { CatalogSnapshot } from "../catalog/catalog-snapshot.js";
import { type CompiledModel, ownPrefix } from "../model/compiled-model.js";
import type { FoundRow } from "../query/any-query.js";
import type { TableContext } from "../query/table-context.js";

/**
 * Where it is written when a row expires, in milliseconds since 1970, for databases that do not tell it. It is written with
 * the row and expires with it.
 */
export function expiryKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [ownPrefix, "expiry", model.name, ...primaryKey];
}

/** Whether the times at which the model's rows expire are written down beside them. */
export function keepsExpiry({ catalog }: TableContext, { entry }: CatalogSnapshot): boolean {
  return entry.expires === true && !catalog.tellsExpiry;
}

/**
 * For how long a row will be there still, in milliseconds: 1 at least; undefined where it does not expire. A promise only
 * where that has to be read.
 */
export function rowTimeLeft(
  context: TableContext,
  catalog: CatalogSnapshot,
  row: Pick<FoundRow, "primaryKey" | "expireAt">,
): number | undefined | Promise<number | undefined> {
  if (keepsExpiry(context, catalog)) return readTimeLeft(context, row.primaryKey);
  return row.expireAt === undefined ? undefined : timeLeft(row.expireAt);
}

async function readTimeLeft(
  { kv, model }: TableContext,
  primaryKey: readonly KvKeyPart[],
): Promise<number | undefined> {
  const { value } = await kv.get(expiryKey(model, primaryKey));
  return typeof value === "number" ? timeLeft(value) : undefined;
}

function timeLeft(expireAt: number): number {
  return Math.max(expireAt - Date.now(), 1);
}

/** Writes down when a row expires, or that it does not. */
export function expiryRecord(
  model: CompiledModel,
  primaryKey: readonly KvKeyPart[],
  expireIn: number | undefined,
): KvMutation {
  const key = expiryKey(model, primaryKey);
  if (expireIn === undefined) return { type: "delete", key };
  return { type: "set", key, value: Date.now() + expireIn, expireIn };
}
