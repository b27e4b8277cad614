import type { Kv, KvKey } from "@keywright/core";
import { capabilitiesOf } from "../../../state/catalog/capabilities-of.js";
import { readStored } from "../../../state/rows/read-rows.js";
import { readEntriesAfter } from "../../../state/run/read-entries-after.js";
import type { SourceEntry, SourceKv, SourceReader } from "./source-layout.js";

/** Reads a source by keys and in pages. It has no method that writes. */
export interface PagedReader extends SourceReader {
  /** Returns the next entries under a prefix. There are fewer than `limit` only at the end. */
  page(prefix: KvKey, after: KvKey | null, limit: number): Promise<SourceEntry[]>;
}

export function sourceReader(source: SourceKv): PagedReader {
  // A key that was read from the source has only parts that can be stored.
  const kv = source as Kv;
  const { limits } = capabilitiesOf(kv);
  return {
    getMany: async (keys) => {
      const entries = await readStored({ kv, limits }, keys);
      return entries.map((entry) => (entry.versionstamp === null ? undefined : entry));
    },
    page: async (prefix, after, limit) =>
      await readEntriesAfter<unknown>({ kv, limits }, prefix, after, limit),
  };
}
