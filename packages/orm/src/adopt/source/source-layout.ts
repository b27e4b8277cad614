import type { KvKey, KvKeyPart, KvLike } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import { keyText } from "../../indexes/key-text.js";

/** A database that is only read: what `openKv` or `Deno.openKv` resolved to, or what reads as they do. */
export type SourceKv = Pick<KvLike, "get" | "getMany" | "list">;

/** An entry as it is stored in the source. */
export interface SourceEntry {
  readonly key: KvKey;
  readonly value: unknown;
  readonly versionstamp: string;
  /** When it expires, in milliseconds since 1970; undefined where it does not, or the source does not tell. */
  readonly expireAt?: number | undefined;
}

/** Reads keys of the source, as many as are asked for. */
export interface SourceReader {
  /** The entries under some keys, in the order of the keys; undefined where nothing is stored. */
  getMany(keys: readonly KvKey[]): Promise<(SourceEntry | undefined)[]>;
}

/** A document of the source. */
export interface SourceDocument {
  /** A key part, or several of them in a list. */
  readonly id: RowId;
  /** What the layout says that its entry holds. */
  readonly value: unknown;
  /** Its own entry. */
  readonly entry: SourceEntry;
}

/** An index entry that a document has. */
export interface ExpectedEntry {
  readonly key: KvKey;
  readonly value: unknown;
}

/**
 * Where data is in a source, and how it is stored there: `guideLayout`, `kvdexLayout` and `pentagonLayout` return one, and
 * one of your own is an object with these members.
 */
export interface SourceLayout {
  /** How the keys of the documents' entries begin. Nothing else of the same beginning has to be a document: see `idOf`. */
  readonly rows: KvKey;
  /** How the keys of index entries begin, one for each index that is to be checked. */
  readonly indexes: readonly KvKey[];
  /** The id of the document that has its entry under a key that begins as `rows` does; undefined where none has. */
  idOf(key: KvKey): RowId | undefined;
  /**
   * The value of a document; without it what its entry holds. What it throws is the document's own fault: others are
   * adopted all the same. But an `InvalidArgumentError` ends the call.
   */
  readValue?(entry: SourceEntry, id: RowId, reader: SourceReader): unknown;
  /** The entries that a document has in `indexes`. Where it throws, the document has none. */
  entriesOf(document: SourceDocument): readonly ExpectedEntry[] | Promise<readonly ExpectedEntry[]>;
  /** The id of the document to which an index entry leads; undefined where it leads to none. */
  ownerOf(entry: SourceEntry): RowId | undefined;
}

/** The parts of an id. */
export function partsOf(id: RowId): readonly KvKeyPart[] {
  return isPartList(id) ? id : [id];
}

/** The id with these parts. */
export function idOfParts(parts: readonly KvKeyPart[]): RowId | undefined {
  return parts.length === 1 ? parts[0] : parts.length === 0 ? undefined : [...parts];
}

/** A text that no other id has. */
export function idText(id: RowId): string {
  return keyText(partsOf(id));
}

/** The key of the entry of the document with an id. */
export function documentKey(layout: SourceLayout, id: RowId): KvKey {
  return [...layout.rows, ...partsOf(id)];
}

function isPartList(id: RowId): id is readonly KvKeyPart[] {
  return Array.isArray(id);
}
