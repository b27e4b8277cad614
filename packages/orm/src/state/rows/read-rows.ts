import type { KvEntryMaybe, KvKey, KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { awaitAll } from "../context/await-all.js";
import type { ModelStore } from "../context/model-store.js";
import type { ReadView } from "../context/read-view.js";

export async function readRows(
  context: ModelStore,
  primaryKeys: readonly (readonly KvKeyPart[])[],
): Promise<KvEntryMaybe<AnyRow>[]> {
  const keys: KvKey[] = [];
  for (const primaryKey of primaryKeys) keys.push(rowKey(context.model, primaryKey));
  return (await readWithSchema(context, readStored, keys)) as KvEntryMaybe<AnyRow>[];
}

export async function readKeys(
  context: ModelStore,
  keys: readonly KvKey[],
): Promise<KvEntryMaybe<unknown>[]> {
  return await readWithSchema(context, readStored, keys);
}

/**
 * Reads entries. Reads them again if the catalog that tells their schema has changed.
 *
 * @param selected is passed to `read`.
 * @throws {PrimaryKeyDiffersError} if the rows have moved to another primary key.
 */
export async function readWithSchema<
  Context extends ModelStore,
  E extends { readonly versionstamp: string | null },
  S,
>(
  context: Context,
  read: (context: Context, selected: S) => Promise<E[]>,
  selected?: S,
): Promise<E[]> {
  const { catalog } = context;
  for (;;) {
    if (!catalog.isKeyKnown) await catalog.assertSameKey();
    const { snapshot } = catalog;
    const entries = await read(context, selected as S);
    if (!snapshot.upgradesRows && !catalog.snapshot.upgradesRows) return entries;
    const versionstamps = entries.map((entry) => entry.versionstamp);
    if (await catalog.determinesSchema(snapshot, versionstamps)) return entries;
  }
}

/** Reads entries as they are stored, in the order of the keys, in as few calls as possible. */
export async function readStored(
  { kv, limits }: Pick<ReadView, "kv" | "limits">,
  keys: readonly KvKey[],
): Promise<KvEntryMaybe<unknown>[]> {
  if (keys.length === 1 && keys[0] !== undefined) return [await kv.get(keys[0])];
  if (keys.length <= limits.keys) return keys.length === 0 ? [] : await kv.getMany<unknown[]>(keys);
  const reads: Promise<KvEntryMaybe<unknown>[]>[] = [];
  for (let from = 0; from < keys.length; from += limits.keys) {
    reads.push(kv.getMany<unknown[]>(keys.slice(from, from + limits.keys)));
  }
  return (await awaitAll(reads)).flat();
}
