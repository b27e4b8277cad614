import type { KvKey } from "@keywright/core";
import type { RowId } from "../errors/orm-error.js";
import type { RowIssue } from "../errors/row-errors.js";

/** A document that did not become a row. */
export interface FailedRow {
  /** Its id in the source. */
  readonly id: RowId;
  /** A sentence. */
  readonly reason: string;
  /** The code of the error, such as `"KW_ROW_INVALID"`; undefined where it has none. */
  readonly code: string | undefined;
  /** What the schema found wrong: the first ten; none where it is something else. */
  readonly issues: readonly RowIssue[];
}

/**
 * What is wrong with an index entry of the source: a document has none where it should, or another has it; it leads to no
 * document; or it leads to one that does not belong there, or holds something else than it should, such as an old copy.
 */
export type BrokenEntryKind = "missing" | "dangling" | "mismatched";

/** An index entry of the source that is not as its layout says. */
export interface BrokenEntry {
  readonly key: KvKey;
  readonly kind: BrokenEntryKind;
  /** The document that it is about; undefined where it leads to none. */
  readonly id: RowId | undefined;
}

/** What has become of the documents of one model. */
export interface AdoptedModel {
  readonly model: string;
  /** `"todo"` where the signal stopped the run before it. */
  readonly status: "done" | "stopped" | "todo";
  /** Documents that were read. */
  readonly rows: number;
  /** Rows that were written; with `dryRun` those that would be. */
  readonly adopted: number;
  /** Documents whose row was there already, and the same. */
  readonly skipped: number;
  readonly failedCount: number;
  /** The first hundred. */
  readonly failed: readonly FailedRow[];
  readonly brokenCount: number;
  /** The first hundred. */
  readonly brokenEntries: readonly BrokenEntry[];
}

/** How an adoption ended, in all of its runs. */
export interface AdoptResult {
  /**
   * `"failed-rows"` where documents did not become rows: the next run from the same source tries those, and no others. `"stopped"` by the signal, and
   * `"busy"` where another runner works at the schema and `wait` is false: the next run goes on.
   */
  readonly status: "done" | "failed-rows" | "stopped" | "busy";
  readonly models: readonly AdoptedModel[];
}

/** How far the adoption of a model has come. */
export interface AdoptProgress {
  readonly model: string;
  /** Documents are read and written first, then the source's index entries are checked. */
  readonly phase: "rows" | "entries";
  /** Documents, or entries, of all runs. */
  readonly done: number;
  /** Of this run; 0 before its first batch. */
  readonly perSecond: number;
}
