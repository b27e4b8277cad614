import type { KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import type { IndexChanges, IndexEntry } from "../model/keys/index-entries.js";
import type { RowExpiry } from "../model/rows/time.js";
import type { ReadView } from "../state/context/read-view.js";
import type { Effects } from "./effects.js";

/** A change of one row, as everything that is derived from the row sees it. */
export interface RowChange {
  readonly primaryKey: readonly KvKeyPart[];
  /** The row before the change, as it is stored, with its entries. Undefined if there was none. */
  readonly before: IndexedRow | undefined;
  /** The row after the change. Undefined if it is deleted. */
  readonly after: IndexedRow | undefined;
  /** True if `before` expires or has expired. */
  readonly beforeExpires: boolean;
  /** When `after` expires. Undefined if it does not. */
  readonly expiry: RowExpiry | undefined;
  /** The difference between the entries of `before` and `after`. */
  readonly entries: IndexChanges;
  /** True if a build that is under way has already seen `before`. See `markSeen`. */
  readonly isSeen: boolean;
}

/** A row with its entries in the indexes that a change affects. */
export interface IndexedRow {
  readonly row: AnyRow;
  readonly entries: readonly IndexEntry[];
}

/**
 * One kind of data that is derived from the rows of a model, such as index entries or counters.
 * Every commit that changes a row keeps it. The design follows the index maintainers of
 * FoundationDB's Record Layer.
 */
export interface Derived {
  readonly name: string;
  /**
   * True if the rows of a model have this data at all, by the catalog that the view has. It is
   * asked once for each catalog. The default is true.
   */
  isKept?(view: ReadView): boolean;
  /**
   * Adds what the commit of a change checks and writes so that this data is right after it. Reads
   * through the view only, and writes nothing. Returns a promise only if it reads something.
   *
   * @throws an error that names the row if the change cannot be made.
   */
  plan(change: RowChange, view: ReadView, effects: Effects): void | Promise<void>;
  /**
   * Returns the fields on which this data depends, by the catalog that the view has. A change that
   * keeps their values keeps all of this data. Undefined if it may depend on all fields, as if this
   * is absent.
   */
  dependsOn?(view: ReadView): readonly string[] | undefined;
  /** Returns about how much a change of a row adds to a commit at most. Nothing by default. */
  cost?(model: CompiledModel, indexes: readonly CompiledIndex[]): Cost;
}

/** A number of checks and writes. */
export interface Cost {
  readonly checks: number;
  readonly writes: number;
}
