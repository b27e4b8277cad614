import type { KvKey, KvKeyPart } from "../keys/key.js";
import type { KeyPrefix } from "../keys/key-prefix.js";
import type { KvListSelector } from "../keys/key-range.js";

/** An entry of a page. Its key and its versionstamp are decoded when they are first read. */
export interface KvListedEntry {
  readonly key: KvKey;
  /** The number of the parts of the key. */
  readonly keyLength: number;
  /** Returns a part of the key, or undefined if it has fewer parts. */
  partAt(position: number): KvKeyPart | undefined;
  /**
   * Compares the key with the keys that have a prefix: 0 if it has the prefix too, negative if it
   * sorts before them, positive if it sorts after them. No part of the key is decoded.
   */
  compareStart(prefix: KeyPrefix): number;
  /** The value, a new copy. Undefined if the page was read without values. */
  readonly value: unknown;
  readonly versionstamp: string;
  /** The expiry in milliseconds since the epoch, if there is one. */
  readonly expireAt: number | undefined;
}

/** Which entries a page has. */
export interface KvPageOptions {
  /** The maximum number of entries. */
  readonly limit: number;
  readonly reverse: boolean;
  /** False if only the keys are needed. */
  readonly withValues: boolean;
  /** The properties that are needed of values that are objects. Others may be left out. */
  readonly properties?: ReadonlySet<string> | undefined;
}

/** Which entries of several ranges are read together. */
export interface KvEachOptions extends Omit<KvPageOptions, "reverse"> {
  /** The maximum number of entries of all ranges together. `limit` is that of each range. */
  readonly most: number;
  /** A key of the first range. Only the keys after it are read. */
  readonly after?: KvKey | undefined;
}

/**
 * Reads of many entries at a time. They take less time than `list` and `getMany`, because they
 * decode only what is asked for. Pages are read in one snapshot each. The calls throw as `list` and
 * `getMany` do.
 */
export interface KvPages {
  /** True if the calls return their results and never a promise. */
  readonly listsAtOnce: boolean;

  /** Returns the first entries of a range. */
  list(
    selector: KvListSelector,
    options: KvPageOptions,
  ): KvListedEntry[] | Promise<KvListedEntry[]>;

  /**
   * Returns the first entries of each of several ranges, in one read of one snapshot. The lists are
   * in the order of the ranges. If all entries together are as many as `most`, the last list may
   * lack entries, and the lists of the ranges after it are left out.
   *
   * @param prefixes those of the keys of each range, in the order of the keys. None begins with
   * another one.
   */
  listEach(
    prefixes: readonly KeyPrefix[],
    options: KvEachOptions,
  ): KvListedEntry[][] | Promise<KvListedEntry[][]>;

  /**
   * Returns how many keys with a number of parts each of several ranges has, in one snapshot. It
   * costs less than to list the entries, but as many are read.
   *
   * @param prefixes as those of `listEach`.
   */
  countEach(prefixes: readonly KeyPrefix[], keyLength: number): number[] | Promise<number[]>;

  /**
   * Returns the entries to which others lead by their keys: those under the keys that begin with
   * `prefix` and continue with the parts of an entry's key from `from` on. An index entry whose key
   * ends in the primary key of a row leads to the row in this way. The results are in the order of
   * `entries`, and undefined if there is no such entry.
   *
   * @param entries entries of pages of the same database.
   */
  getLinked(
    entries: readonly KvListedEntry[],
    prefix: KvKey,
    from: number,
  ): (KvListedEntry | undefined)[] | Promise<(KvListedEntry | undefined)[]>;
}
