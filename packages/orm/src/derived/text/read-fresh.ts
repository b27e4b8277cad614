import type { Kv, KvEntry } from "@keywright/core";
import type { ModelStore } from "../../state/context/model-store.js";
import { sectionPrefix, type TextGroup } from "./text-keys.js";

/** Reads the entries of fresh documents. */
export async function readFresh(
  { kv, limits }: { readonly kv: Pick<Kv, "list">; readonly limits: ModelStore["limits"] },
  group: TextGroup,
  max?: number,
): Promise<KvEntry<unknown>[]> {
  const fresh: KvEntry<unknown>[] = [];
  const batchSize = Math.min(max ?? limits.batchSize, limits.batchSize);
  const options = max === undefined ? { batchSize } : { limit: max, batchSize };
  const list = kv.list({ prefix: sectionPrefix(group, "fresh") }, options);
  for await (const entry of list) fresh.push(entry);
  return fresh;
}
