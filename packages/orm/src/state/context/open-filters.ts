import type { KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import type { ReadMeter } from "./read-meter.js";
import type { ReadView } from "./read-view.js";

/** The conditions of a query on related rows, such as `posts: { some: { status: "draft" } }`. */
export interface RelatedFilters {
  /** A text that differs for different conditions. Cursors contain its digest. */
  readonly id: string;
  /** The models whose rows are read to test the conditions. */
  readonly models: readonly CompiledModel[];
  /** True if one of the conditions finds the rows that meet it in the order of their keys. */
  canFind(view: ReadView): boolean;
  /**
   * Checks that indexes serve all conditions.
   *
   * @param isFinding true if one of the conditions has to find the rows.
   * @throws {UnindexedQueryError} if they do not.
   */
  assertServed(view: ReadView, isFinding: boolean): void;
  /** Begins to read related rows. */
  open(view: ReadView, meter: ReadMeter): OpenFilters;
  /** Returns how the related rows are read, without reading any. */
  explain(view: ReadView, isFinding: boolean): readonly ExplainedRelation[];
}

/** Reads of related rows for one query. */
export interface OpenFilters {
  /** Returns the keys of the rows to test, in the order of the primary key. */
  keysAfter(after: readonly KvKeyPart[] | undefined, reverse: boolean): KeySource;
  /** Returns for each row whether it meets all conditions now. */
  test(rows: readonly RelatedRow[]): Promise<readonly boolean[]>;
}

/** A row whose related rows are read. */
export interface RelatedRow {
  readonly primaryKey: readonly KvKeyPart[];
  readonly row: AnyRow;
}

/** Primary keys in their order. */
export interface KeySource {
  /** Returns up to `count` keys. None if there are no more. */
  next(count: number): Promise<readonly (readonly KvKeyPart[])[]>;
  hasMore(): Promise<boolean>;
}

/** How the related rows of one condition are read. */
export interface ExplainedRelation {
  readonly relation: string;
  readonly condition: "some" | "none" | "is" | "isNot";
  /**
   * How the related rows are used:
   *
   * - `"find"`: index entries lead from the condition to the rows, in the order of their keys.
   * - `"collect"`: all related rows that meet the condition are read first, at most 10,000.
   * - `"test"`: the related rows of each row are looked up.
   */
  readonly access: "find" | "collect" | "test";
  /** The model whose index is read. */
  readonly model: string;
  /** The index that is read. `"primaryKey"` if rows are read by primary key or in its order. */
  readonly index: string;
  /** The maximum number of reads before the first row. */
  readonly readsBefore: number;
  /** The maximum number of reads for each row. Undefined if there is no maximum. */
  readonly readsPerRow: number | undefined;
}
