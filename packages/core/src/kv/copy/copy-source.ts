import type { Kv, KvEntry } from "../kv.js";
import type { KvLimits } from "../limits.js";
import type { KvReads } from "../read/kv-reads.js";
import { Listing } from "./listing.js";

export interface CopySource {
  /** The reads of one state if the database has views, and otherwise of the database itself. */
  readonly reads: KvReads & { readonly limits?: Partial<KvLimits> };
  /** The first listing of a database without views. A later one must find the same entries. */
  readonly listing: Listing | undefined;
  close(): void;
}

/** @param expireIn the option of a copy. It says which entries may expire. */
export async function openSource(
  from: Kv,
  expireIn?: (entry: KvEntry<unknown>) => number | undefined,
): Promise<CopySource> {
  const view = await from.openView?.();
  if (view !== undefined) return { reads: view, listing: undefined, close: () => view.close() };
  return { reads: from, listing: new Listing(expireIn), close: () => undefined };
}
