import { isDeepStrictEqual } from "node:util";
import { CopyFailedError } from "../../errors/copy-errors.js";
import type { KvKey } from "../../keys/key.js";
import { decodeValue } from "../../values/decode-value.js";
import { encodeValue } from "../../values/encode-value.js";
import { bigintOfU64 } from "../../values/kv-u64.js";
import type { Kv, KvEntry, KvEntryMaybe } from "../kv.js";
import type { CopyOptions } from "./copy-options.js";
import type { CopySource } from "./copy-source.js";
import { listSource } from "./list-source.js";
import { readMany } from "./read-many.js";

const entriesAtOnce = 500;

/**
 * Reads both databases and compares each entry of the source with that of the target.
 *
 * @param onVerified called with the number of entries that have been compared.
 * @throws {DatabaseChangedError} if the source has no views and has changed during the copy.
 * @throws {CopyFailedError} if an entry of the source is missing in the target or has another
 * value there.
 */
export async function confirmCopy(
  { reads, listing }: CopySource,
  to: Kv,
  options: CopyOptions,
  onVerified: (entries: number) => void,
): Promise<void> {
  const later = listing?.again();
  let verified = 0;
  let differences = 0;
  let first: KvKey | undefined;
  const compare = async (entries: readonly KvEntry<unknown>[]) => {
    options.signal?.throwIfAborted();
    const keys = entries.map(({ key }) => key);
    const copies = await readMany(to, keys);
    for (const [i, entry] of entries.entries()) {
      if (isSame(entry, copies[i]!, options)) continue;
      differences++;
      first ??= entry.key;
    }
    verified += entries.length;
    onVerified(verified);
  };
  let entries: KvEntry<unknown>[] = [];
  for await (const entry of listSource(reads)) {
    later?.add(entry);
    entries.push(entry);
    if (entries.length < entriesAtOnce) continue;
    await compare(entries);
    entries = [];
  }
  if (entries.length > 0) await compare(entries);
  if (later !== undefined) listing?.assertSameIn(later, "copy");
  if (first === undefined) return;
  const counted = differences === 1 ? "1 entry differs" : `${differences} entries differ`;
  throw new CopyFailedError(
    `${counted} between the source and the target, because a program has written to the target; stop such programs, then copy again with restart: true`,
    first,
  );
}

function isSame(
  entry: KvEntry<unknown>,
  copy: KvEntryMaybe<unknown>,
  { expireIn }: CopyOptions,
): boolean {
  if (copy.versionstamp !== null) return isSameValue(plain(copy.value), plain(entry.value));
  // The copy may have expired.
  return (
    expireIn?.(entry) !== undefined || (entry.expireAt ?? Number.POSITIVE_INFINITY) <= Date.now()
  );
}

/** Returns a number without its class, which differs between databases. */
function plain(value: unknown): unknown {
  const number = bigintOfU64(value);
  return number === undefined ? value : { u64: number };
}

function isSameValue(a: unknown, b: unknown): boolean {
  if (isDeepStrictEqual(a, b)) return true;
  try {
    // Some databases return bytes as a Buffer, which has another class and shares its memory.
    return isDeepStrictEqual(decodeValue(encodeValue(a)), decodeValue(encodeValue(b)));
  } catch {
    return false;
  }
}
