import { Buffer } from "node:buffer";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import { DatabaseChangedError } from "../../errors/copy-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import { encodeEntryKey } from "../../keys/encode-key.js";
import type { KvEntry } from "../kv.js";
import type { CopySource } from "./copy-source.js";
import { listSource } from "./list-source.js";
import { readMany } from "./read-many.js";
import { type SourceEntry, sourceEntry } from "./source-entry.js";

const versionstampDigits = 20;
/** The maximum number of entries whose places one pass over the source keeps. */
const placesPerPass = 500_000;
/** Values that are in memory at the same time, in bytes. */
const readBytes = 4 * 1024 * 1024;
const mostEntries = 1000;

/**
 * The place of an entry in the order of commits: its versionstamp, then its encoded key with one
 * character for each byte. Places sort as texts.
 */
export type Place = string;

export function placeOf(versionstamp: string, encodedKey: Uint8Array): Place {
  return versionstamp + textOfBytes(encodedKey);
}

export interface CommitOrderOptions {
  /** Only entries after this place. */
  readonly after: Place;
  /** Called after the first pass with the number of entries after the place. */
  readonly onTotal?: (entries: number) => void;
  readonly signal?: AbortSignal | undefined;
  /** Smaller in tests. */
  readonly placesPerPass?: number;
}

/**
 * Yields the entries of a database in the order of the commits that wrote them. A database lists
 * its entries by key, so each pass lists all keys, keeps the next places in memory, and reads the
 * entries at these places again.
 *
 * @throws {DatabaseChangedError} if an entry has changed between the two reads. One that is absent
 * at the second is left out: it may have expired.
 */
export async function* entriesInCommitOrder(
  source: CopySource,
  options: CommitOrderOptions,
): AsyncGenerator<SourceEntry> {
  let { after } = options;
  for (let isFirst = true, isLast = false; !isLast; isFirst = false) {
    const pass = await nextPlaces(source, after, isFirst, options);
    if (isFirst) options.onTotal?.(pass.entries);
    isLast = pass.isLast;
    yield* entriesAt(source.reads, pass.places);
    after = pass.places.at(-1) ?? after;
  }
}

async function nextPlaces(
  { reads, listing }: CopySource,
  after: Place,
  isFirst: boolean,
  { signal, placesPerPass: most = placesPerPass }: CommitOrderOptions,
): Promise<{ places: Place[]; isLast: boolean; entries: number }> {
  let places: Place[] = [];
  let bound: Place | undefined;
  let entries = 0;
  const keepFirst = () => {
    places.sort();
    if (places.length <= most) return;
    places = places.slice(0, most);
    bound = places.at(-1);
  };
  for await (const entry of listSource(reads)) {
    signal?.throwIfAborted();
    if (isFirst) listing?.add(entry);
    const { key, versionstamp } = entry;
    const place = placeOf(versionstamp, encodeEntryKey(key));
    if (place <= after) continue;
    entries++;
    if (bound !== undefined && place > bound) continue;
    places.push(place);
    if (places.length === 2 * most) keepFirst();
  }
  keepFirst();
  return { places, isLast: bound === undefined, entries };
}

async function* entriesAt(
  reads: CopySource["reads"],
  places: readonly Place[],
): AsyncGenerator<SourceEntry> {
  let atOnce = 10;
  for (let i = 0, read: readonly Place[]; i < places.length; i += read.length) {
    read = places.slice(i, i + atOnce);
    const entries = await readPlaces(reads, read);
    let bytes = 0;
    for (const [index, entry] of entries.entries()) {
      if (entry === undefined) continue;
      bytes += entry.bytes;
      if (!read[index]!.startsWith(entry.versionstamp)) throw new DatabaseChangedError("copy");
      yield entry;
    }
    const mean = Math.max(bytes / read.length, 1);
    atOnce = Math.min(Math.max(Math.floor(readBytes / mean), 1), mostEntries, 2 * atOnce);
  }
}

/** Reads the entries with the keys of places. Undefined for those that are gone. */
async function readPlaces(
  reads: CopySource["reads"],
  places: readonly Place[],
): Promise<(SourceEntry | undefined)[]> {
  const encoded = places.map((place) =>
    Uint8Array.from(Buffer.from(place.slice(versionstampDigits), "latin1")),
  );
  const keys = encoded.map((key) => decodeKey(key));
  return (await readMany(reads, keys)).map((entry, i) =>
    entry.versionstamp === null
      ? undefined
      : sourceEntry(keys[i]!, encoded[i]!, entry as KvEntry<unknown>),
  );
}
