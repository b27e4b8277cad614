import type { KvKey, KvKeyPart, KvLike } from "@keywright/core";
import type { RowId } from "../../../errors/orm-error.js";
import { keyText } from "../../../model/keys/key-text.js";
import { partsOfId } from "../../../model/keys/primary-key.js";

/**
 * A database that is only read: the result of `openKv` or `Deno.openKv`, or an object with the same
 * methods.
 */
export type SourceKv = Pick<KvLike, "get" | "getMany" | "list">;

/** An entry as it is stored in the source. */
export interface SourceEntry {
  readonly key: KvKey;
  readonly value: unknown;
  readonly versionstamp: string;
  /**
   * When the entry expires, in milliseconds since 1970. Undefined if it does not expire, or if the
   * source does not report it.
   */
  readonly expireAt?: number | undefined;
}

/** Reads any number of keys of the source. */
export interface SourceReader {
  /**
   * Returns the entries in the order of the keys. The result is undefined for a key without an
   * entry.
   */
  getMany(keys: readonly KvKey[]): Promise<(SourceEntry | undefined)[]>;
}

/** A document of the source. */
export interface SourceDocument {
  /** A key part, or a list of several key parts. */
  readonly id: RowId;
  /** The value that the layout reads from the entry. */
  readonly value: unknown;
  readonly entry: SourceEntry;
}

/** An index entry that a document should have. */
export interface ExpectedEntry {
  readonly key: KvKey;
  readonly value: unknown;
  /** True if the entry may also be absent. */
  readonly isOptional?: boolean;
}

/** Entries that belong to the documents and are not adopted. They are only counted. */
export interface LeftEntries {
  /** In the plural, such as `"history entries"`. */
  readonly kind: string;
  readonly prefix: KvKey;
  /** Prefixes of entries that do not count. */
  readonly except?: readonly KvKey[];
}

/**
 * Describes the keys and values of data in a source. `guideLayout`, `kvdexLayout` and
 * `pentagonLayout` return layouts. Any object with these members can be used as one.
 */
export interface SourceLayout {
  /** The prefix of the keys of documents. Other entries may have the same prefix: see `idOf`. */
  readonly rows: KvKey;
  /** The prefixes of the keys of index entries, one for each index to check. */
  readonly indexes: readonly KvKey[];
  /** The entries that are not adopted, so that the result reports them. None by default. */
  readonly leaves?: readonly LeftEntries[];
  /**
   * Returns the id of the document whose entry has this key, which begins with `rows`. Returns
   * undefined if the entry does not belong to a document.
   */
  idOf(key: KvKey): RowId | undefined;
  /**
   * Returns the value of a document. Without this method, it is the value of the entry. If it
   * throws an `InvalidArgumentError`, the adoption ends. If it throws anything else, only this
   * document fails.
   */
  readValue?(entry: SourceEntry, id: RowId, reader: SourceReader): unknown;
  /**
   * Returns the entries that a document should have in `indexes`. If it throws, the document has
   * none.
   */
  entriesOf(document: SourceDocument): readonly ExpectedEntry[] | Promise<readonly ExpectedEntry[]>;
  /**
   * Returns the id of the document that an index entry leads to, or undefined if it leads to none.
   */
  ownerOf(entry: SourceEntry): RowId | undefined;
}

export function idOfParts(parts: readonly KvKeyPart[]): RowId | undefined {
  return parts.length === 1 ? parts[0] : parts.length === 0 ? undefined : [...parts];
}

export function idText(id: RowId): string {
  return keyText(partsOfId(id));
}

export function documentKey(layout: SourceLayout, id: RowId): KvKey {
  return [...layout.rows, ...partsOfId(id)];
}
