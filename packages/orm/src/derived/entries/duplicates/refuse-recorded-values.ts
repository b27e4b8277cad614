import type { KvKeyPart } from "@keywright/core";
import { UniqueConstraintError } from "../../../errors/row-errors.js";
import type { AnyRow } from "../../../model/compiled-model.js";
import { hasIndexKey, type IndexEntry } from "../../../model/keys/index-entries.js";
import { isSameKey } from "../../../model/keys/key-parts.js";
import { pointerOf, rowKey } from "../../../model/keys/primary-key.js";
import {
  type Duplicate,
  duplicateShape,
  duplicatesOfValue,
} from "../../../state/catalog/backfill-state.js";
import { systemValue } from "../../../state/catalog/system-value.js";
import type { ReadView } from "../../../state/context/read-view.js";
import { hasExpired } from "../../expiry/row-expiry.js";

/**
 * Refuses values of unique-pending indexes that a recorded duplicate has. The entry of such a value
 * is missing after the row that it points to was deleted or has expired, until the duplicate gets
 * it. A duplicate is recorded only by a commit that changes the catalog entry, so the check of the
 * catalog entry guarantees that there is none that was not read here.
 *
 * @throws {UniqueConstraintError} if a duplicate has one of the values.
 */
export async function refuseRecordedValues(
  view: ReadView,
  added: readonly IndexEntry[],
  primaryKey: readonly KvKeyPart[],
): Promise<void> {
  const { model, snapshot, store } = view;
  for (const entry of added) {
    const { index, key } = entry;
    if (snapshot.stateOf(index) !== "unique-pending") continue;
    const owner = await recordedOwner(view, entry, primaryKey);
    if (owner === undefined) continue;
    // If the catalog has changed, the commit fails, and the change is planned again.
    if (await store.catalog.reload()) return;
    const { name, fields } = index;
    const conflict = { index: name, fields, value: key.slice(1), ownerId: pointerOf(owner) };
    throw new UniqueConstraintError(model.name, conflict);
  }
}

/** Returns the first recorded row, other than this one, that still has the key of the entry. */
async function recordedOwner(
  view: ReadView,
  { index, key }: IndexEntry,
  primaryKey: readonly KvKeyPart[],
): Promise<Duplicate["primaryKey"] | undefined> {
  const { kv, model } = view;
  const prefix = duplicatesOfValue(model, index.name, key.slice(1));
  for await (const entry of kv.list({ prefix })) {
    const duplicate = systemValue(entry, duplicateShape, model.name);
    if (duplicate === null) continue;
    const other = duplicate.primaryKey;
    // In an index of several fields, the prefix may also be that of longer values.
    if (!isSameKey(duplicate.value, key.slice(1)) || isSameKey(other, primaryKey)) continue;
    const { value: row } = await kv.get<AnyRow>(rowKey(model, other));
    if (row === null || !hasIndexKey(model, index, row, other, key)) continue;
    if (!(await hasExpired(view, other))) return other;
  }
  return undefined;
}
