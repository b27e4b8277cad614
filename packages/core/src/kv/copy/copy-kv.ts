import { compareBytes } from "../../bytes/compare-bytes.js";
import { CopyUnreadableError, InvalidOptionError } from "../../errors/core-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import { encodeEntryKey } from "../../keys/encode-key.js";
import type { KvKey } from "../../keys/key.js";
import type { Kv, KvEntry, KvLike } from "../kv.js";
import type { CopyOptions, CopyProgress } from "./copy-options.js";
import { CopyWriter, isCopyKey } from "./copy-writer.js";

/**
 * Copies every entry of a database into another, in key order. Both may be any database with Deno
 * KV's interface: one that `openKv` opened, a `Deno.Kv`, or a `Kv` of `@deno/kv`. Entries of the
 * target under other keys stay.
 *
 * If a copy stops for any reason, the next call with the same databases resumes it. The progress is
 * stored in the target under `["__keywright", "copy"]`, in the same commits as the copied entries.
 *
 * An entry that expires also expires in the target if the source reports the time (`expireAt` of
 * its entries). Deno KV does not report it, so entries copied from Deno KV only expire if the
 * option
 * `expireIn` says when. A `KvU64`
 * becomes a `KvU64` of the target. Versionstamps are not copied, because the target assigns its
 * own. Messages of the queue are not copied, because no database lists them.
 *
 * The source may change during the copy. A change after the position of the copy is copied, a
 * change before it is not.
 *
 * ```ts
 * await copyKv(await Deno.openKv(), await openKv("./data"), {
 *   onProgress: ({ entries }) => console.log(entries),
 * });
 * ```
 *
 * @returns the progress of the complete copy.
 * @throws {InvalidOptionError} if both are the same database.
 * @throws {CopyFailedError} if the target refuses an entry, if another copy into it is running, or
 * if the stored progress is unreadable or belongs to another source.
 * @throws {CopyUnreadableError} if this runtime cannot decode a value of the source.
 */
export async function copyKv(
  from: KvLike,
  to: KvLike,
  options: CopyOptions = {},
): Promise<CopyProgress> {
  if (from === to)
    throw new InvalidOptionError("to", "must be another database than the source", "copyKv");
  const writer = await CopyWriter.open(from as Kv, to as Kv, options);
  const { position } = writer;
  let last: KvKey | undefined = position && decodeKey(position);
  const failUnreadable = async (error: unknown): Promise<never> => {
    // What was read before is copied first, so that the next call begins with this entry.
    const { entries } = await writer.flush();
    throw new CopyUnreadableError(last, entries, error);
  };
  for await (const entry of decodable(entriesAfter(from as Kv, position), failUnreadable)) {
    if (!isCopyKey(entry.key)) await writer.add(entry);
    last = entry.key;
  }
  return await writer.finish();
}

/** @param fail called with the error for an entry whose value cannot be decoded. */
async function* decodable(
  entries: AsyncIterable<KvEntry<unknown>>,
  fail: (error: unknown) => Promise<never>,
): AsyncGenerator<KvEntry<unknown>> {
  try {
    yield* entries;
  } catch (error) {
    throw isUndecodable(error) ? await fail(error) : error;
  }
}

/** True for the errors of V8 about values that a newer version has encoded. */
function isUndecodable(error: unknown): boolean {
  return error instanceof Error && /\bdeserialize cloned data\b/i.test(error.message);
}

async function* entriesAfter(
  from: Kv,
  position: Uint8Array | undefined,
): AsyncGenerator<KvEntry<unknown>> {
  if (position === undefined) {
    yield* from.list({ prefix: [] });
    return;
  }
  // A cursor would not do, because only the implementation that made it can read it.
  for await (const entry of from.list({ prefix: [], start: decodeKey(position) })) {
    if (compareBytes(encodeEntryKey(entry.key), position) !== 0) yield entry;
  }
}
