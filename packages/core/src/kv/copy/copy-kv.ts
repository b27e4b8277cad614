import { InvalidOptionError } from "../../errors/core-errors.js";
import type { Kv, KvLike } from "../kv.js";
import { entriesInCommitOrder } from "./commit-order.js";
import type { CopyOptions, CopyProgress } from "./copy-options.js";
import { CopyWriter } from "./copy-writer.js";
import { verifyCopy } from "./verify-copy.js";

/**
 * Copies every entry of a database into another. Both may be any database with Deno KV's interface:
 * one that `openKv` opened, a `Deno.Kv`, or a `Kv` of `@deno/kv`. Entries of the target under other
 * keys stay.
 *
 * If a copy stops for any reason, the next call with the same databases resumes it. The progress is
 * stored in the target under `["__keywright", "copy"]`.
 *
 * The target assigns its own versionstamps. Entries are copied in the order of the commits that
 * wrote them, so the versionstamps of the copies have the order of those of the source. Models rely
 * on this order while a migration changes rows. Messages of the queue are not copied, because no
 * database lists them. A `KvU64` becomes a `KvU64` of the target.
 *
 * An entry that expires also expires in the target if the source reports the time (`expireAt` of
 * its entries). Deno KV does not report it, so entries copied from Deno KV only expire if the
 * option `expireIn` says when.
 *
 * The source may change during the copy. Some of these changes are copied. With `verify`, the copy
 * fails if the source and the target differ at the end.
 *
 * Memory holds the places of at most a million entries. A larger source is listed several times.
 *
 * ```ts
 * await copyKv(await Deno.openKv(), await openKv("./data"), {
 *   onProgress: ({ entries }) => console.log(entries),
 * });
 * ```
 *
 * @returns the progress of the complete copy.
 * @throws {InvalidOptionError} if both are the same database.
 * @throws {CopyFailedError} if the target refuses an entry, if another copy into it is running, if
 * the stored progress is unreadable or belongs to another source, or if `verify` finds a
 * difference.
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
  const entries = entriesInCommitOrder(from as Kv, {
    after: writer.position,
    onTotal: (total) => writer.setTotal(total),
    signal: options.signal,
  });
  for await (const entry of entries) await writer.add(entry);
  await writer.flush();
  if (options.verify === true) {
    await verifyCopy(from as Kv, to as Kv, options, (verified) => writer.setVerified(verified));
  }
  return await writer.finish();
}
