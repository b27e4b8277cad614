import { Buffer } from "node:buffer";
import { encodeValue, type Kv, type KvEntryMaybe, type KvKey } from "@keywright/core";
import type { ExportedEntry } from "../entries/entry-line.js";

/** An entry of a file. */
export interface ImportedEntry extends ExportedEntry {
  /** Of the file, from 1. */
  readonly line: number;
  readonly encodedKey: Buffer;
  readonly encodedValue: Uint8Array;
}

/**
 * What becomes of an entry of a file. `created`: there is nothing under its key. `replaced`: it takes the place of something
 * else. `unchanged`: it is there. `expired`: its time is over. `refused`: there is something else, which stays.
 */
export type Fate = "created" | "replaced" | "unchanged" | "expired" | "refused";

/** What is under a key. */
export interface StoredEntry {
  readonly hasValue: (encodedValue: Uint8Array) => boolean;
  readonly expireAt: number | undefined;
}

/** What a database tells and takes. */
export interface FateSettings {
  readonly overwrite: boolean;
  /** Its entries say when they expire. */
  readonly tellsExpiry: boolean;
  /** Keys that are read at once. */
  readonly keys: number;
  /** What would be under the key of an entry by then; undefined where that is what the database has. */
  readonly wouldBeStored: (entry: ImportedEntry) => StoredEntry | undefined;
}

/** Milliseconds by which the same expiry may differ: it is written as a time from then on. */
const expiryTolerance = 5000;

/** What becomes of entries, as the database is now. */
export async function fatesOf(
  kv: Kv,
  entries: readonly ImportedEntry[],
  settings: FateSettings,
): Promise<Fate[]> {
  const fates: Fate[] = [];
  for (let from = 0; from < entries.length; from += settings.keys) {
    const some = entries.slice(from, from + settings.keys);
    const found = await kv.getMany<unknown[]>(some.map(({ key }) => key as KvKey));
    for (const [index, entry] of some.entries()) {
      const stored = settings.wouldBeStored(entry) ?? storedIn(found[index]!);
      fates.push(fateOf(entry, stored, settings));
    }
  }
  return fates;
}

function fateOf(
  entry: ImportedEntry,
  stored: StoredEntry | undefined,
  { overwrite, tellsExpiry }: FateSettings,
): Fate {
  if (entry.expireAt !== undefined && entry.expireAt <= Date.now()) return "expired";
  if (stored === undefined) return "created";
  const isSame =
    stored.hasValue(entry.encodedValue) &&
    (!tellsExpiry || isSameExpiry(entry.expireAt, stored.expireAt));
  if (isSame) return "unchanged";
  return overwrite ? "replaced" : "refused";
}

function storedIn(found: KvEntryMaybe<unknown>): StoredEntry | undefined {
  if (found.versionstamp === null) return undefined;
  const { value, expireAt } = found;
  return {
    hasValue: (encodedValue) => Buffer.from(encodeValue(value)).equals(encodedValue),
    expireAt,
  };
}

function isSameExpiry(a: number | undefined, b: number | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Math.abs(a - b) <= expiryTolerance;
}
