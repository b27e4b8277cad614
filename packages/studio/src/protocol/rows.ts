import type { IgnoredPart } from "@keywright/orm";

export type Row = Readonly<Record<string, unknown>>;

export interface VersionedRow {
  readonly row: Row;
  readonly versionstamp: string;
}

/** The options of `findMany` that the page uses. The server passes them on unchanged. */
export interface RowsQuery {
  readonly where?: Readonly<Record<string, unknown>>;
  readonly orderBy?: Readonly<Record<string, "asc" | "desc">>;
  readonly index?: string;
  readonly take?: number;
  readonly cursor?: string;
  readonly withDeleted?: boolean;
}

export interface Explained {
  /** The index that the query reads, or `primaryKey`. */
  readonly index: string;
  /** For people: the range of keys, and the most reads. */
  readonly text: string;
}

/** The rows that a search has found, the best first. */
export interface SearchHits extends Page<SearchHit> {
  /** How many rows match. */
  readonly count: number;
  /** The parts of the query that had no effect. */
  readonly ignored: readonly IgnoredPart[];
}

export interface SearchHit extends VersionedRow {
  readonly score: number;
  readonly excerpts: readonly Excerpt[];
}

/** The part of a field's text that has the most of the found words. */
export interface Excerpt {
  readonly field: string;
  /** By turns text between found words, which may be empty, and a found word. */
  readonly parts: readonly string[];
}

export interface DeletionPreview {
  /** The rows of each model that are deleted too, as far as they were counted. */
  readonly deleted: readonly {
    readonly property: string;
    readonly count: number;
    readonly isMore: boolean;
  }[];
  readonly cleared: readonly {
    readonly property: string;
    readonly count: number;
    readonly isMore: boolean;
  }[];
  /** The rows that prevent the deletion, with the primary key of the first. */
  readonly restricting: readonly { readonly property: string; readonly key: Row }[];
  /** True if the row is only marked as deleted. */
  readonly isSoft: boolean;
  /** True if further rows were not looked at, because there are too many. */
  readonly isIncomplete: boolean;
}

/** What a row was from a commit on. */
export interface RowVersionInfo {
  readonly versionstamp: string;
  /** Null if the log no longer has the commit. */
  readonly time: Date | null;
  /** What the commit said of itself. Undefined if it said nothing. */
  readonly context: unknown;
  /** Null if the commit has deleted the row. */
  readonly row: Row | null;
}

/**
 * A commit of the log. `GET /api/feed?property=users&after=<versionstamp>` is a stream of
 * server-sent events with the encoded commits, whose ids are the versionstamps. An event `failed`
 * has an encoded `StudioError`, and is the last.
 */
export interface FeedCommit {
  readonly versionstamp: string;
  readonly time: Date;
  /** What the commit said of itself. Undefined if it said nothing. */
  readonly context: unknown;
  readonly rows: readonly FeedChange[];
  /** How many further rows it has changed. */
  readonly more: number;
  /** How many keys it has changed that are not those of rows, such as index entries. */
  readonly others: number;
}

/** A change of a row, with its values as they are stored. */
export interface FeedChange {
  readonly property: string;
  readonly key: Row;
  readonly type: "create" | "update" | "delete" | "expire";
  readonly before: Row | null;
  readonly after: Row | null;
}

/** A page of a list, with the cursor of the next page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly cursor: string | null;
}

/**
 * `GET /api/changes?property=users` is a stream of server-sent events. The data of each is an
 * encoded list of the primary keys of rows that have changed, or null if there are too many.
 */
export type ChangedKeys = readonly Row[] | null;

/**
 * `GET /api/export?property=users&format=ndjson&query=<encoded RowsQuery>` downloads all rows of a
 * query, `format` being `ndjson` or `csv`.
 */
export type ExportFormat = "ndjson" | "csv";
