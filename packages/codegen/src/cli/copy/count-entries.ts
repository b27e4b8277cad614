import type { KvLike } from "@keywright/core";
import { listEntries } from "../../inspect/entries/list-entries.js";

/** Returns undefined if the signal stopped the count. */
export async function countEntries(kv: KvLike, signal: AbortSignal): Promise<number | undefined> {
  let entries = 0;
  for await (const _ of listEntries(kv, {})) {
    if (signal.aborted) return undefined;
    entries++;
  }
  return entries;
}
