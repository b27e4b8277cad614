import type { AtomicCheck, KvKeyPart } from "@keywright/core";
import { UniqueConstraintError } from "../../../errors/row-errors.js";
import type { AnyRow, CompiledModel } from "../../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../../model/keys/entry-value.js";
import { hasIndexKey, type IndexEntry } from "../../../model/keys/index-entries.js";
import { isSameKey } from "../../../model/keys/key-parts.js";
import { pointerOf, rowKey } from "../../../model/keys/primary-key.js";
import type { ReadView } from "../../../state/context/read-view.js";
import type { TakenKey } from "../../../state/context/table-context.js";
import { hasExpired } from "../../expiry/row-expiry.js";

export interface UniqueKeyClaim {
  /** The other row that has the key. */
  readonly owner: readonly KvKeyPart[] | undefined;
  /** True if the entry exists and points to this row. */
  readonly pointsToRow: boolean;
  /** The checks that make the commit fail if the key is no longer free. */
  readonly checks: readonly AtomicCheck[];
}

/**
 * Finds out whether a row can have a unique key. An entry whose row does not exist, has expired, or
 * does not have the key does not count. It may be overwritten under the returned checks.
 */
export async function claimUniqueKey(
  view: ReadView,
  { index, key }: IndexEntry,
  primaryKey: readonly KvKeyPart[],
): Promise<UniqueKeyClaim> {
  const { kv, model } = view;
  const { value: pointer, versionstamp } = await kv.get(key);
  const checks: AtomicCheck[] = [{ key, versionstamp }];
  if (versionstamp === null) return { owner: undefined, pointsToRow: false, checks };
  const owner = primaryKeyOfEntry(model, index, pointer);
  if (owner === undefined) return { owner, pointsToRow: false, checks };
  if (isSameKey(owner, primaryKey)) return { owner: undefined, pointsToRow: true, checks };
  const ownerKey = rowKey(model, owner);
  const { value: row, versionstamp: ownerVersionstamp } = await kv.get<AnyRow>(ownerKey);
  const isTaken =
    row !== null && hasIndexKey(model, index, row, owner, key) && !(await hasExpired(view, owner));
  checks.push({ key: ownerKey, versionstamp: ownerVersionstamp });
  return { owner: isTaken ? owner : undefined, pointsToRow: false, checks };
}

/** Returns the error of a row that needs a unique key that another row has. */
export function takenError(
  { name, indexes }: CompiledModel,
  { index, key, owner }: TakenKey,
): UniqueConstraintError {
  const value = key.slice(1);
  const { fields } = index;
  return new UniqueConstraintError(name, {
    index: index.name,
    fields,
    value,
    ownerId: pointerOf(owner),
    isEarlier: !indexes.includes(index),
  });
}
