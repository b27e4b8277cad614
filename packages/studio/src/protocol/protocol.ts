// What the page and the server of the studio send each other. Both encode it with `wire.ts`, which
// keeps dates, bigints, bytes, maps and sets.

import type { Progress } from "@keywright/core";
import type { IgnoredPart } from "@keywright/orm";

/** A part of a key: `Uint8Array`, string, number, bigint or boolean. */
export type KeyPart = Uint8Array | string | number | bigint | boolean;

/** The description of the database, which the page reads first. */
export interface StudioInfo {
  /** The name of the project, or the URL or folder of the database. */
  readonly title: string;
  readonly isReadOnly: boolean;
  /** True if the database reports changes, so that the page can mark changed rows. */
  readonly isLive: boolean;
  /** True if the database keeps a log of its commits. */
  readonly hasLog: boolean;
  /** Sorted by name. None for a database without models, or if damage hides what it has. */
  readonly models: readonly ModelInfo[];
  readonly damage: KnownDamage | null;
}

/** Damage of the files of the database, as far as it is known without reading them. */
export interface KnownDamage {
  /** The folder of the database, or null if it is not known. */
  readonly path: string | null;
  /** As a clause: `its file 000005.ldb, from byte 331303 on: …`. */
  readonly reason: string;
  /** True if the database was opened nevertheless. Otherwise all calls fail. */
  readonly isReadable: boolean;
}

export interface ModelInfo {
  /** The name in the program: `db.users`. */
  readonly property: string;
  /** The name in the database, which errors and migrations use. */
  readonly name: string;
  /** The first part of the keys of its rows. */
  readonly prefix: string;
  readonly primaryKey: readonly string[];
  readonly fields: readonly FieldInfo[];
  readonly indexes: readonly IndexInfo[];
  readonly relations: readonly RelationInfo[];
  /** The field that marks deleted rows, or null. */
  readonly softDelete: string | null;
  /**
   * The field that tells people which row it is, such as `name` or `title`. Null if there is none.
   */
  readonly titleField: string | null;
}

/** How a value is shown and edited. `data` is anything else, edited as JSON. */
export type FieldKind =
  | "string"
  | "number"
  | "bigint"
  | "boolean"
  | "date"
  | "bytes"
  | "choice"
  | "data";

export interface FieldInfo {
  readonly name: string;
  readonly kind: FieldKind;
  /** For people: `string`, `"draft" | "live"`, `{ longitude: number }`. */
  readonly type: string;
  /** True if a row may lack the field. */
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  /** True if `create` fills it in. */
  readonly hasDefault: boolean;
  /** The field of a related row that it copies: `author.name`. Data cannot contain it. */
  readonly copied: string | null;
  readonly choices: readonly (string | number)[];
  readonly description: string | null;
}

export interface IndexInfo {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly isDescending: boolean }[];
  readonly isUnique: boolean;
  /** The array field whose elements have one entry each, or null. */
  readonly each: string | null;
  /** The rows that it has, for people: `deletedAt is absent`. Null if it has all rows. */
  readonly condition: string | null;
  /** The conditions that select it and that a query has to repeat. */
  readonly where: Readonly<Record<string, unknown>> | null;
  /**
   * False if it serves no list of rows: a part of its key is computed, so that nothing stands for
   * its values, or it is a full-text index.
   */
  readonly isQueryable: boolean;
  /** The fields whose words a full-text index contains. Null for any other index. */
  readonly text: readonly string[] | null;
  readonly isCounted: boolean;
  /** `readable`, `write-only`, …, or `unknown` if the database is damaged. */
  readonly state: string;
}

export interface RelationInfo {
  readonly name: string;
  readonly kind: "belongsTo" | "hasOne" | "hasMany" | "manyToMany";
  /** The `property` of the model that it leads to. */
  readonly target: string;
  /** For `belongsTo` fields of this model, for `hasOne` and `hasMany` those of the target. */
  readonly fields: readonly string[];
  /** For `manyToMany`: the rows between, and their fields. */
  readonly through: {
    readonly model: string;
    readonly from: readonly string[];
    readonly to: readonly string[];
  } | null;
  readonly onDelete: "restrict" | "cascade" | "setNull" | null;
}

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

/** A commit of the log. */
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

export interface MigrationState {
  readonly models: readonly {
    readonly model: string;
    readonly indexes: Readonly<Record<string, IndexProgressInfo>>;
    /** The number of rows that could not be changed to the new schema. */
    readonly failed: number;
  }[];
  readonly steps: readonly StepInfo[];
  /**
   * The models that the plan takes back: to a schema that the database had before, or by the `down`
   * of a migration.
   */
  readonly goesBack: readonly string[];
  /** True if programs with the models of the database can still write after the plan. */
  readonly isSideBySide: boolean;
  readonly migrations: readonly {
    readonly name: string;
    readonly model: string;
    /** Why it cannot be undone, as a clause after "because". Null if it can. */
    readonly obstacle: string | null;
  }[];
  /** Changes that no step brings about, as sentences. */
  readonly warnings: readonly string[];
  readonly databaseOnly: readonly { readonly model: string; readonly rows: number | null }[];
  /** The run that holds the lease: of this or of another process. */
  readonly runner: {
    readonly host: string;
    readonly since: Date;
    readonly isAlive: boolean;
  } | null;
}

export interface IndexProgressInfo {
  readonly state: string;
  readonly isDeclared: boolean;
  readonly progress: Progress | null;
  readonly duplicates: number;
}

export interface StepInfo {
  readonly id: string;
  readonly model: string;
  readonly kind: string;
  /** `safe`, `backfill`, `rebuild`, `data` or `breaking`. A breaking step has to be accepted. */
  readonly class: string;
  readonly reason: string;
  /** The action that must come first, for people. Null if the step can run. */
  readonly blocked: string | null;
}

/** A long piece of work of this studio. One runs at a time. `try` is a migration without writes. */
export interface Job {
  readonly kind: "migrate" | "try" | "verify" | "repair" | "files";
  readonly state: "running" | "stopping" | "ended" | "failed";
  readonly progress: JobProgress | null;
  /**
   * How it ended: `done`, `stopped`, `passed`, `would-fail`, `duplicates`, `clean`, `damaged`, …
   */
  readonly outcome: string | null;
  readonly error: StudioError | null;
  /** The damage that a verification found, by index. */
  readonly found: readonly FoundDamage[];
  /** What a change of rows would do. A migration changes nothing if rows would fail. */
  readonly tried: readonly TriedModel[];
  /** What a check of the files found, or null if none was made. */
  readonly files: CheckedFiles | null;
}

export interface CheckedFiles {
  /** The number of files with tables, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  readonly damages: readonly DamagedPlace[];
}

/** A place in a file whose bytes are not those that were written. */
export interface DamagedPlace {
  readonly file: string;
  /** In bytes from the beginning of the file. */
  readonly offset: number;
  readonly reason: string;
  /**
   * The keys between which entries may be missing or wrong, both inclusive. Bytes if they are no
   * keys of entries. Null if they are not known.
   */
  readonly firstKey: readonly KeyPart[] | Uint8Array | null;
  readonly lastKey: readonly KeyPart[] | Uint8Array | null;
  /** The rows and indexes with keys between these, for people. Null if it may be any entry. */
  readonly affected: readonly string[] | null;
}

/** In rows, or in bytes if files are checked. */
export type JobProgress = Progress & { readonly model: string };

/** What a planned change of rows makes of all rows of a model that it has not reached yet. */
export interface TriedModel {
  readonly model: string;
  readonly rows: number;
  readonly changed: number;
  /** Rows that the change or an index refuses. They would stay as they are. */
  readonly failed: number;
  /** In how many rows each field is added, changed or removed. */
  readonly fields: readonly {
    readonly field: string;
    readonly added: number;
    readonly changed: number;
    readonly removed: number;
  }[];
  /** The first rows that would change, with the fields that differ. */
  readonly examples: readonly { readonly key: Row; readonly before: Row; readonly after: Row }[];
  /** The first rows that would fail. */
  readonly failures: readonly { readonly key: Row; readonly reason: string }[];
}

export interface FoundDamage {
  readonly model: string;
  readonly rows: number;
  /**
   * The name of an index, or what else was verified: `"counts, sums and ranks"` or `"copied
   * fields"`.
   */
  readonly index: string;
  readonly missing: number;
  readonly dangling: number;
  readonly mismatched: number;
}

/** A page of a list, with the cursor of the next page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly cursor: string | null;
}

interface DanglingReference {
  readonly key: Row;
  readonly relation: string;
  readonly target: string;
  readonly targetKey: Row;
}

/** An error as the page shows it. */
export interface StudioError {
  /** The stable code of Keywright, such as `KW_UNIQUE_CONSTRAINT`, or null. */
  readonly code: string | null;
  readonly message: string;
  /** The fields that are not valid. */
  readonly issues: readonly {
    readonly path: readonly (string | number)[];
    readonly message: string;
  }[];
  /** The key of the damaged entry, if a stored entry is damaged. */
  readonly damagedKey: readonly KeyPart[] | null;
  /** The row that has the unique value, if another row owns it. */
  readonly owner: {
    readonly property: string;
    readonly key: Row;
    readonly fields: readonly string[];
  } | null;
}

/**
 * The calls of `POST /api/<name>`: the body is the encoded input, the answer the encoded output.
 * With another status than 200, the answer is a {@link StudioError}.
 */
/** The jobs and the crons of the database. */
export interface WorkState {
  /** Sorted by name. */
  readonly jobs: readonly JobTopic[];
  readonly crons: readonly CronState[];
}

/** How many jobs of a name are in each state. */
export interface JobTopic {
  readonly name: string;
  readonly waiting: number;
  readonly delayed: number;
  readonly running: number;
  readonly failed: number;
}

/** A job in the list of failed ones. */
export interface FailedJob {
  readonly id: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly enqueuedAt: Date;
  readonly failedAt: Date | null;
  /** The code or the name of the error, and its message. */
  readonly error: string;
}

/** A cron as it is stored. */
export interface CronState {
  readonly name: string;
  readonly schedule: string;
  readonly timeZone: string;
  readonly next: Date;
  /** The tick that runs now, or that waits for another attempt. */
  readonly run: {
    readonly tick: Date;
    readonly attempt: number;
    readonly retryAt: Date | null;
    readonly process: string;
    readonly error: string | null;
  } | null;
  readonly last: {
    readonly tick: Date;
    readonly endedAt: Date;
    readonly error: string | null;
  } | null;
  readonly succeeded: number;
  readonly failed: number;
}

export interface StudioCalls {
  info: { input: null; output: StudioInfo };
  rows: { input: { property: string; query: RowsQuery }; output: Page<VersionedRow> };
  /** Null if counting would read more than 100,000 entries, or rows that are marked as deleted. */
  count: { input: { property: string; query: RowsQuery }; output: number | null };
  explain: { input: { property: string; query: RowsQuery }; output: Explained };
  /** At most 20 rows. `where` has a value of each field in the key of the full-text index. */
  search: {
    input: { property: string; index: string; query: string; where: Row; cursor: string | null };
    output: SearchHits;
  };
  row: { input: { property: string; key: Row }; output: VersionedRow | null };
  create: { input: { property: string; data: Row }; output: VersionedRow };
  /** `data` has only the fields that change. Fails if the row has changed since `versionstamp`. */
  update: {
    input: { property: string; key: Row; data: Row; versionstamp: string };
    output: VersionedRow;
  };
  previewDelete: { input: { property: string; key: Row }; output: DeletionPreview };
  delete: { input: { property: string; key: Row; versionstamp: string }; output: null };
  /** With `cascade`, the rows that were deleted together with the row are restored too. */
  restore: {
    input: { property: string; key: Row; versionstamp: string; cascade: boolean };
    output: VersionedRow;
  };
  /** The versions of a row that the log has, newest first. */
  history: {
    input: { property: string; key: Row; cursor: string | null };
    output: Page<RowVersionInfo>;
  };
  /** Writes a version again. Fails if the row has another versionstamp than `ifVersion`. */
  restoreVersion: {
    input: { property: string; key: Row; versionstamp: string; ifVersion: string | null };
    output: null;
  };
  /**
   * The commits of the log before a versionstamp, newest first: those that have changed rows of a
   * model, or all. Reads at most 2,000. `newest` is the first that was read.
   */
  feed: {
    input: { property: string | null; before: string | null };
    output: Page<FeedCommit> & { readonly newest: string | null };
  };
  /** Reads at most 1,000 rows, 1,000 entries of each index, and what `count` reads. */
  measure: { input: { property: string }; output: ModelSize };
  /** Failed jobs of a name, the oldest first. */
  failedJobs: { input: { name: string; cursor: string | null }; output: Page<FailedJob> };
  /** Lets one failed job wait again, or all with null. */
  retryJobs: {
    input: { name: string; id: string | null };
    output: { readonly count: number; readonly skipped: number };
  };
  /** Removes one failed job, or all with null. */
  discardJobs: { input: { name: string; id: string | null }; output: { readonly count: number } };
  keys: { input: { prefix: readonly KeyPart[]; after?: KeyPart }; output: KeysPage };
  entry: { input: { key: readonly KeyPart[] }; output: KeyEntry | null };
  migration: { input: null; output: MigrationState };
  failedRows: {
    input: { model: string; cursor: string | null };
    output: Page<{ readonly model: string; readonly key: Row; readonly reason: string }>;
  };
  duplicates: {
    input: { model: string; index: string; cursor: string | null };
    output: Page<{ readonly value: readonly KeyPart[]; readonly keys: readonly Row[] }>;
  };
  dangling: { input: { model: string; cursor: string | null }; output: Page<DanglingReference> };
  /**
   * Starts a run of the migration. Fails if a job runs already. Rows are tried first, unless
   * `acceptFailures` is true.
   */
  migrate: {
    input: {
      accept: readonly string[];
      dropModels: readonly string[];
      acceptFailures: boolean;
    };
    output: Job;
  };
  /** Tries the plan on all rows that it changes, and writes nothing. */
  tryRows: { input: null; output: Job };
  verify: { input: { isRepair: boolean }; output: Job };
  /** Checks the checksums of the files of the database, also if it is damaged. */
  checkFiles: { input: null; output: Job };
  damage: { input: null; output: KnownDamage | null };
  /** Stops the job after its current batch. A stopped migration resumes with the next `migrate`. */
  stop: { input: null; output: Job | null };
  job: { input: null; output: Job | null };
}

/**
 * `GET /api/changes?property=users` is a stream of server-sent events. The data of each is an
 * encoded list of the primary keys of rows that have changed, or null if there are too many.
 */
export type ChangedKeys = readonly Row[] | null;

/**
 * `GET /api/feed?property=users&after=<versionstamp>` is a stream of server-sent events. The data
 * of each is an encoded {@link FeedCommit}, and its id the versionstamp. An event `failed` has an
 * encoded {@link StudioError}, and is the last.
 */

/**
 * `GET /api/export?property=users&format=ndjson&query=<encoded RowsQuery>` downloads all rows of a
 * query, `format` being `ndjson` or `csv`.
 */
export type ExportFormat = "ndjson" | "csv";
