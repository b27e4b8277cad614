import type { Kv, KvKey } from "@keywright/core";
import { entriesAfter } from "../../migrate/run/entries-after.js";
import { limitsOf } from "../../transaction/limits-of.js";
import type { SourceEntry, SourceKv, SourceReader } from "./source-layout.js";

/** Reads a source by keys and in pages. It knows of no way to write. */
export interface PagedReader extends SourceReader {
  /**
   * The next entries whose keys begin with a prefix, in order.
   *
   * @param after the key behind which they begin; null for the first ones.
   * @param limit entries at the most; there are fewer only at the end.
   */
  page(prefix: KvKey, after: KvKey | null, limit: number): Promise<SourceEntry[]>;
}

/** A reader of a source, of whose interface it uses no more than what reads. */
export function sourceReader(source: SourceKv): PagedReader {
  // A key that was read has no parts but those that somebody stored.
  const kv = source as Kv;
  const limits = limitsOf(kv);
  const { keys: keysAtOnce } = limits;
  return {
    getMany: async (keys) => {
      const found: (SourceEntry | undefined)[] = [];
      for (let from = 0; from < keys.length; from += keysAtOnce) {
        const entries = await kv.getMany<unknown[]>(keys.slice(from, from + keysAtOnce));
        for (const entry of entries) found.push(entry.versionstamp === null ? undefined : entry);
      }
      return found;
    },
    page: async (prefix, after, limit) =>
      await entriesAfter<unknown>(kv, limits, [...prefix], after, limit),
  };
}
