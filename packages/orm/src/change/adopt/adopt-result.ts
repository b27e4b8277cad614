import type { KvKey, Progress } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import type { RowIssue } from "../../errors/row-issue.js";

/** A document that did not become a row. */
export interface AdoptFailure {
  /** The id of the document in the source. */
  readonly id: RowId;
  /** One sentence. */
  readonly reason: string;
  /** The code of the error, such as `"KW_ROW_INVALID"`. Undefined if the error has none. */
  readonly code: string | undefined;
  /** The issues that the schema reported, at most ten. Empty if the reason is a different one. */
  readonly issues: readonly RowIssue[];
}

/**
 * The problem with an index entry of the source.
 *
 * - `"missing"`: a document does not have its entry, or the entry leads to another document.
 * - `"dangling"`: the entry leads to no document.
 * - `"mismatched"`: the document should not have the entry, or the value is not as it should be,
 *   for example an old copy.
 */
export type BrokenEntryKind = "missing" | "dangling" | "mismatched";

/** An index entry of the source that does not match the layout. */
export interface BrokenEntry {
  readonly key: KvKey;
  readonly kind: BrokenEntryKind;
  /** The id of the document that the entry concerns. Undefined if the entry leads to none. */
  readonly id: RowId | undefined;
}

/** The result of adopting the documents of one model. */
export interface AdoptedModel {
  readonly model: string;
  /** `"todo"` if the signal stopped the run before this model. */
  readonly status: "done" | "stopped" | "todo";
  /** The number of documents that were read. */
  readonly rows: number;
  /** The number of rows that were written. With `dryRun`, of those that would be written. */
  readonly adopted: number;
  /**
   * The number of documents whose row already existed: with the same content, or adopted earlier.
   */
  readonly skipped: number;
  /**
   * The number of documents whose row an earlier run has written, and the program has deleted
   * since. The row is not created again, except with `restoreDeleted`.
   */
  readonly deleted: number;
  readonly failedCount: number;
  /** The first 100. */
  readonly failed: readonly AdoptFailure[];
  readonly brokenCount: number;
  /** The first 100. */
  readonly brokenEntries: readonly BrokenEntry[];
  /** The entries of the source that belong to the documents and were not adopted. */
  readonly leftBehind: readonly LeftBehind[];
}

/** A kind of entries that are not adopted, such as `"history entries"`. */
export interface LeftBehind {
  readonly kind: string;
  readonly count: number;
}

/** The result of an adoption, including its earlier runs. */
export interface AdoptResult {
  /**
   * `"failed-rows"` if documents did not become rows. The next run from the same source tries only
   * those again. `"stopped"` if the signal stopped the run, and `"busy"` if another runner is at
   * work and `wait` is false. The next run resumes.
   */
  readonly status: "done" | "failed-rows" | "stopped" | "busy";
  readonly models: readonly AdoptedModel[];
}

/**
 * The progress of the adoption of a model. Documents are read and written first. Then the index
 * entries of the source are checked.
 */
export type AdoptProgress = Progress<"rows" | "entries"> & { readonly model: string };
