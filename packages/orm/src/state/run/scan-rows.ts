import type { KvEntry, KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import type { ModelStore } from "../context/model-store.js";
import { readEntriesAfter } from "./read-entries-after.js";

/**
 * Returns the next entries under a model's prefix, in order. These are the model's rows, and
 * entries whose keys begin with the key of a row and have more key parts.
 *
 * @param after the primary key after which to begin; null to begin at the first row.
 * @param limit the maximum number of entries, at most `maxBatchRows`. Fewer are returned only
 * at the end.
 */
export async function readNextRows(
  context: ModelStore,
  after: readonly KvKeyPart[] | null,
  limit: number,
): Promise<KvEntry<AnyRow>[]> {
  const prefix = [context.model.place];
  const afterKey = after === null ? null : [...prefix, ...after];
  return await readEntriesAfter<AnyRow>(context, prefix, afterKey, limit);
}
