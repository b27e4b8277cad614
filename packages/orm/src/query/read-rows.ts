import type { KvEntryMaybe, KvKeyPart } from "@keywright/core";
import { rowKey } from "../indexes/primary-key.js";
import type { AnyRow } from "../model/compiled-model.js";
import type { TableContext } from "./table-context.js";

/** Reads rows by their primary keys, in that order, in as few reads as the database allows. */
export async function readRows(
  { kv, model, limits }: TableContext,
  primaryKeys: readonly (readonly KvKeyPart[])[],
): Promise<KvEntryMaybe<AnyRow>[]> {
  const keys = primaryKeys.map((primaryKey) => rowKey(model, primaryKey));
  if (keys.length <= limits.keys) return await kv.getMany<AnyRow[]>(keys);
  const entries: KvEntryMaybe<AnyRow>[] = [];
  for (let from = 0; from < keys.length; from += limits.keys) {
    entries.push(...(await kv.getMany<AnyRow[]>(keys.slice(from, from + limits.keys))));
  }
  return entries;
}
