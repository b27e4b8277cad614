import type { KeyEntry, KeysPage, ModelSize } from "./keys.js";
import type { Job, MigrationState } from "./maintenance.js";
import type {
  DeletionPreview,
  Explained,
  FeedCommit,
  Page,
  Row,
  RowsQuery,
  RowVersionInfo,
  SearchHits,
  VersionedRow,
} from "./rows.js";
import type { KeyPart, KnownDamage, StudioInfo } from "./studio-info.js";
import type { FailedJob } from "./work.js";

interface DanglingReference {
  readonly key: Row;
  readonly relation: string;
  readonly target: string;
  readonly targetKey: Row;
}

/**
 * The calls of `POST /api/<name>`: the body is the input, the answer the output. The page and the
 * server encode both with `wire.ts`, which keeps dates, bigints, bytes, maps and sets.
 * With another status than 200, the answer is a {@link StudioError}.
 */
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
