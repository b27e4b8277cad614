import { CopyFailedError } from "../../errors/copy-errors.js";
import type { KvKey } from "../../keys/key.js";
import type { Kv } from "../kv.js";
import type { CopySource } from "./copy-source.js";
import { isCopyKey } from "./own-keys.js";
import { readMany } from "./read-many.js";

const keysAtOnce = 500;
/** Milliseconds by which the copy of an entry may expire later than the entry. */
const expiryDelay = 60_000;

/**
 * Verifies that the target has no entries that an earlier run has copied and that the source has
 * deleted since.
 *
 * @param since the versionstamp in the target at which the first run began. Entries that were there
 * before stay.
 * @throws {CopyFailedError} if there are such entries.
 */
export async function assertNoRemains(
  { reads }: CopySource,
  to: Kv,
  since: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  let remains = 0;
  let first: KvKey | undefined;
  const compare = async (keys: readonly KvKey[]) => {
    signal?.throwIfAborted();
    for (const [i, { versionstamp }] of (await readMany(reads, keys)).entries()) {
      if (versionstamp !== null) continue;
      remains++;
      first ??= keys[i]!;
    }
  };
  let keys: KvKey[] = [];
  for await (const { key, versionstamp, expireAt } of to.list({ prefix: [] }, { batchSize: 500 })) {
    const isExpiring = expireAt !== undefined && expireAt <= Date.now() + expiryDelay;
    if (versionstamp <= since || isExpiring || isCopyKey(key)) continue;
    keys.push(key);
    if (keys.length < keysAtOnce) continue;
    await compare(keys);
    keys = [];
  }
  if (keys.length > 0) await compare(keys);
  if (first === undefined) return;
  const counted = remains === 1 ? "1 entry" : `${remains} entries`;
  throw new CopyFailedError(
    `the target has ${counted} that an earlier run has copied and that the source has deleted since; copy into an empty database`,
    first,
  );
}
