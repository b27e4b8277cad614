import type { KvListSelector } from "../../keys/key-range.js";
import type { Kv, KvEntry, KvLike } from "../kv.js";
import { openSource } from "./copy-source.js";

const batchSize = 500;

/**
 * Lists a range of one state of a database, in key order. If the database has no views, such as
 * Deno KV, the range is listed a second time at the end, and the listing fails if it has changed.
 * So what was yielded is complete and consistent only if the iteration ends without an error.
 *
 * ```ts
 * for await (const { key, value } of listSnapshot(kv, { prefix: [] })) console.log(key, value);
 * ```
 *
 * @throws {DatabaseChangedError} at the end, if the database has no views and programs wrote to the
 * range during the listing.
 * @throws {ReadViewEndedError} if the engine can no longer read the state.
 * @throws {InvalidSelectorError} if the selector is not valid.
 */
export async function* listSnapshot(
  kv: KvLike,
  selector: KvListSelector,
): AsyncGenerator<KvEntry<unknown>, void, undefined> {
  const { reads, listing, close } = await openSource(kv as Kv);
  try {
    for await (const entry of reads.list(selector, { batchSize })) {
      listing?.add(entry);
      yield entry;
    }
    if (listing === undefined) return;
    const later = listing.again();
    for await (const entry of reads.list(selector, { batchSize })) later.add(entry);
    listing.assertSameIn(later, "list");
  } finally {
    close();
  }
}
