import { Buffer } from "node:buffer";
import { encodeValue, type Kv, type KvEntryMaybe, type KvKey } from "@keywright/core";
import type { ExportedEntry } from "../entries/entry-line.js";

export interface ImportedEntry extends ExportedEntry {
  readonly line: number;
  readonly encodedKey: Buffer;
  readonly encodedValue: Uint8Array;
}

/**
 * The effect of an import on an entry:
 *
 * - `created`: there is no entry under its key
 * - `replaced`: it replaces a different entry
 * - `unchanged`: the database already contains it
 * - `expired`: its expiry time has passed, so it is left out
 * - `refused`: a different entry is under its key and is kept
 */
export type Fate = "created" | "replaced" | "unchanged" | "expired" | "refused";

export interface StoredEntry {
  readonly hasValue: (encodedValue: Uint8Array) => boolean;
  readonly expireAt: number | undefined;
}

export interface FateSettings {
  readonly overwrite: boolean;
  readonly tellsExpiry: boolean;
  readonly keys: number;
  /** Undefined if a dry run would not have written the key. */
  readonly wouldBeStored: (entry: ImportedEntry) => StoredEntry | undefined;
}

/** Expiry is written as a duration, so the stored time differs by some milliseconds. */
const expiryTolerance = 5000;

export async function determineFates(
  kv: Kv,
  entries: readonly ImportedEntry[],
  settings: FateSettings,
): Promise<Fate[]> {
  const fates: Fate[] = [];
  for (let from = 0; from < entries.length; from += settings.keys) {
    const batch = entries.slice(from, from + settings.keys);
    const found = await kv.getMany<unknown[]>(batch.map(({ key }) => key as KvKey));
    for (const [index, entry] of batch.entries()) {
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
