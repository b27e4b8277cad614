import type { KeyPart } from "./studio-info.js";

export interface KeyChild {
  readonly part: KeyPart;
  /** The entry whose key ends with this part, or null if there are only longer keys. */
  readonly entry: KeyEntry | null;
  /** True if there are longer keys below. */
  readonly hasChildren: boolean;
}

export interface KeyEntry {
  readonly key: readonly KeyPart[];
  readonly versionstamp: string;
  /** In milliseconds since 1970, or null. */
  readonly expiresAt: number | null;
  /** The bytes of the encoded value, or null if Keywright cannot encode it. */
  readonly bytes: number | null;
  /** For people: `object`, `Map`, `KvU64`, `string`. */
  readonly type: string;
  readonly value: unknown;
}

export interface KeysPage {
  readonly children: readonly KeyChild[];
  /** The part after which the next page begins. Undefined on the last page. */
  readonly next?: KeyPart;
  /** Set if the database is damaged after the last of the children. */
  readonly damage?: string;
}

/**
 * The bytes of encoded keys and values. A database may need less for them, because it compresses
 * its files, or more, because it keeps older entries for a while.
 */
export interface MeasuredSize {
  /** If it is an estimate, so may be this number. */
  readonly entries: number;
  readonly bytes: number;
  /**
   * `exact` if all entries were read. `estimate` if it is the mean of some entries times their
   * number. `minimum` if the number is not known, so that only what was read counts.
   */
  readonly precision: "exact" | "estimate" | "minimum";
}

export interface ModelSize {
  readonly rows: MeasuredSize;
  /** By the names of the indexes, also of those that no query names. */
  readonly indexes: Readonly<Record<string, MeasuredSize>>;
}
