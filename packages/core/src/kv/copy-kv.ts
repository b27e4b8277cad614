import { compareBytes } from "../bytes/compare-bytes.js";
import { InvalidOptionError } from "../errors/core-errors.js";
import { decodeKey } from "../keys/decode-key.js";
import { encodeEntryKey } from "../keys/encode-key.js";
import type { CopyOptions, CopyProgress } from "./copy-options.js";
import { CopyWriter, isCopyKey } from "./copy-writer.js";
import type { Kv, KvEntry, KvLike } from "./kv.js";

/**
 * Copies every entry of a database into another, in the order of its keys. Either may be anything with Deno KV's
 * interface: what `openKv` opens, `Deno.Kv`, the `Kv` of `@deno/kv`. Entries of the target under other keys stay.
 *
 * A copy that stopped, for whatever reason, is continued by the next call with the same databases: how far it has come
 * stands in the target, under `["__keywright", "copy"]`, and is written in the commits that copy the entries.
 *
 * An entry that expires does so in the target as well, where the source tells when (`expireAt` of its entries): Deno KV
 * does not tell it, so that entries copied from there stay. `KvU64` values become those of the target. Versionstamps are
 * not copied: the target gives its own. Neither are messages of the queue, which no database shows.
 *
 * The source may be written to meanwhile: what is written ahead of the copy is copied, what changes behind it is not.
 *
 * ```ts
 * await copyKv(await Deno.openKv(), await openKv("./data"), {
 *   onProgress: ({ entries }) => console.log(entries),
 * });
 * ```
 *
 * @returns what was copied, when the copy is complete.
 * @throws {InvalidOptionError} where both are the same database.
 * @throws {CopyFailedError} where the target refuses an entry, another copy into it is running, or what an earlier copy
 * has left is of another source.
 */
export async function copyKv(
  from: KvLike,
  to: KvLike,
  options: CopyOptions = {},
): Promise<CopyProgress> {
  if (from === to) throw new InvalidOptionError("to", "it is the database that is copied");
  const writer = await CopyWriter.open(from as Kv, to as Kv, options);
  for await (const entry of entriesAfter(from as Kv, writer.position)) {
    if (!isCopyKey(entry.key)) await writer.add(entry);
  }
  return await writer.finish();
}

/** The entries behind an encoded key, or all of them without one. */
async function* entriesAfter(
  from: Kv,
  position: Uint8Array | undefined,
): AsyncGenerator<KvEntry<unknown>> {
  if (position === undefined) {
    yield* from.list({ prefix: [] });
    return;
  }
  // Not by a cursor, which only the implementation that made it can read.
  for await (const entry of from.list({ prefix: [], start: decodeKey(position) })) {
    if (compareBytes(encodeEntryKey(entry.key), position) !== 0) yield entry;
  }
}
