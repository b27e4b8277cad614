import { isDeepStrictEqual } from "node:util";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { awaitAll } from "../../values/await-all.js";
import type { Kv, KvLike } from "../kv.js";
import { assertNoRemains } from "./assert-no-remains.js";
import { entriesInCommitOrder } from "./commit-order.js";
import { confirmCopy } from "./confirm-copy.js";
import { copiedLists, copyMessages } from "./copy-messages.js";
import type { CopyOptions, CopyResult } from "./copy-options.js";
import { type CopySource, openSource } from "./copy-source.js";
import { CopyWriter } from "./copy-writer.js";
import { openDenoFile } from "./deno-file/deno-file.js";
import { progressKey } from "./own-keys.js";

/**
 * Copies one state of a database into another. Both may be any database with Deno KV's interface:
 * one that `openKv` opened, a `Deno.Kv`, or a `Kv` of `@deno/kv`. In Deno, the source may also be
 * the path of a file of Deno KV, which brings the expiry times and the messages of its queue along.
 * Entries of the target under other keys stay, so the copy equals the source only if the target was
 * empty.
 *
 * Programs may use the source during the copy. They are not delayed, and the copy has the state at
 * the beginning of the call. A source without views, such as a `Deno.Kv`, is read again at the end.
 * If it has changed, the copy fails with a `DatabaseChangedError`.
 *
 * If a copy stops for any reason, the next call with the same databases resumes it, and copies what
 * the source has changed since. If the source has deleted entries since, the call fails, and the
 * copy has to begin again with an empty target. The progress is stored in the target under
 * `["__keywright", "copy"]`.
 *
 * The target assigns its own versionstamps. Entries are copied in the order of the commits that
 * wrote them, so the versionstamps of the copies have the order of those of the source. Models rely
 * on this order while a migration changes rows. A `KvU64` becomes a `KvU64` of the target.
 *
 * An entry that expires also expires in the target if the source reports the time (`expireAt` of
 * its entries). A `Deno.Kv` does not report it, so its entries only expire if the option `expireIn`
 * says when.
 *
 * Messages of the queue are copied from a file of Deno KV, because other sources cannot list them:
 * with the time at which they are due, the attempts that are left and `keysIfUndelivered`. The
 * source still has them, so let only one of the two programs handle messages.
 *
 * Memory holds the places of at most a million entries. A larger source is listed several times.
 *
 * ```ts
 * await copyKv("kv.sqlite", await openKv("./data"), {
 *   onProgress: ({ done, total }) => console.log(done, total),
 * });
 * ```
 *
 * @param from a database, or the path of a file of Deno KV.
 * @returns the number of entries, including those of the calls that this call resumes.
 * @throws {InvalidOptionError} if both are the same database, or if `from` is a path and this
 * runtime is not Deno.
 * @throws {DatabaseFormatError} if the file is not one of Deno KV, or is one of a later version.
 * @throws {CopyFailedError} if the target refuses an entry, if another copy into it is running, if
 * the stored progress is unreadable or belongs to another source, if `verify` finds a difference,
 * or if the target has entries of an earlier call that the source has deleted since.
 * @throws {DatabaseChangedError} if the source has no views and programs wrote to it.
 * @throws {ReadViewEndedError} if the engine of the source can no longer read the state. The next
 * call resumes the copy.
 * @throws {CopyUnreadableError} if this runtime cannot decode a value of the source.
 */
export async function copyKv(
  from: KvLike | string,
  to: KvLike,
  options: CopyOptions = {},
): Promise<CopyResult> {
  if (from === to) throw sameDatabase();
  const source =
    typeof from === "string" ? openDenoFile(from) : await openSource(from as Kv, options.expireIn);
  try {
    const writer = await CopyWriter.open(source.reads, to as Kv, options);
    await assertOtherDatabase(source, to as Kv, writer);
    const entries = entriesInCommitOrder(source, {
      after: writer.position,
      onTotal: (total) => writer.setTotal(total),
      signal: options.signal,
    });
    for await (const entry of entries) await writer.add(entry);
    await writer.flush();
    const lists = await copiedLists(to as Kv);
    if (options.messages !== false && source.messages !== undefined)
      await copyMessages(source.messages(), lists, writer);
    const isCompared = options.verify === true || source.listing !== undefined;
    if (isCompared) {
      writer.beginVerifying();
      await confirmCopy(source, to as Kv, options, (verified) => writer.setVerified(verified));
    }
    const { remainsSince } = writer;
    if (remainsSince !== undefined)
      await assertNoRemains(source, to as Kv, remainsSince, options.signal);
    return await writer.finish(lists.map(({ key }) => key));
  } finally {
    source.close();
  }
}

/**
 * Verifies that the source does not have the progress that the writer has just stored in the
 * target. A copy into the same database would replace what programs write to it during the copy.
 *
 * @throws {InvalidOptionError} if both are handles of one database.
 */
async function assertOtherDatabase(source: CopySource, to: Kv, writer: CopyWriter): Promise<void> {
  const [own, other] = await awaitAll([to.get(progressKey), source.getNewest(progressKey)]);
  const isSame =
    own.versionstamp !== null &&
    own.versionstamp === other.versionstamp &&
    isDeepStrictEqual(own.value, other.value);
  if (!isSame) return;
  // Progress of an earlier run stays.
  if (writer.remainsSince === undefined) await to.delete(progressKey);
  throw sameDatabase();
}

function sameDatabase(): InvalidOptionError {
  return new InvalidOptionError("to", "must be another database than the source", "copyKv");
}
