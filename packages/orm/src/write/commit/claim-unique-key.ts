import type { AtomicCheck, KvKeyPart } from "@keywright/core";
import type { TableContext } from "../../context/table-context.js";
import { primaryKeyOfEntry } from "../../indexes/entry-value.js";
import { hasIndexKey, type IndexEntry } from "../../indexes/index-entries.js";
import { isSameKey } from "../../indexes/key-parts.js";
import { rowKey } from "../../indexes/primary-key.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { hasExpired } from "./row-expiry.js";

/** Whether a row can have a unique key. */
export interface UniqueKeyClaim {
  /** The other row that has it; undefined where it is free. */
  readonly owner: readonly KvKeyPart[] | undefined;
  /** The entry is there already and points to this row. */
  readonly isOwn: boolean;
  /** What must hold at the commit for the key to be free still. */
  readonly checks: readonly AtomicCheck[];
}

/**
 * Finds out whether a row can have a unique key. An entry that points to a row which is gone, has expired, or doesn't have
 * the key does not count: it may be overwritten, on condition that nothing of this changes.
 */
export async function claimUniqueKey(
  context: TableContext,
  { index, key }: IndexEntry,
  primaryKey: readonly KvKeyPart[],
): Promise<UniqueKeyClaim> {
  const { kv, model, catalog } = context;
  const { value: pointer, versionstamp } = await kv.get(key);
  const checks: AtomicCheck[] = [{ key, versionstamp }];
  if (versionstamp === null) return { owner: undefined, isOwn: false, checks };
  const owner = primaryKeyOfEntry(model, index, pointer);
  if (owner === undefined) return { owner, isOwn: false, checks };
  if (isSameKey(owner, primaryKey)) return { owner: undefined, isOwn: true, checks };
  const ownerKey = rowKey(model, owner);
  const { value: row, versionstamp: ownerVersionstamp } = await kv.get<AnyRow>(ownerKey);
  const isTaken =
    row !== null &&
    hasIndexKey(model, index, row, owner, key) &&
    !(await hasExpired(context, catalog.snapshot, owner));
  checks.push({ key: ownerKey, versionstamp: ownerVersionstamp });
  return { owner: isTaken ? owner : undefined, isOwn: false, checks };
}
