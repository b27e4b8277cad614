import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { AnyRow } from "../../model/compiled-model.js";
import type { IncludedRelation } from "./include-query.js";

/** What becomes of a relation to a row that has to be there and is not: it is refused, or null. */
export type MissingRow = "refused" | "null";

/** A relation that is loaded for some rows. */
export interface RelationLoad extends IncludedRelation {
  readonly context: TableContext;
  /** Whole rows. */
  readonly rows: readonly AnyRow[];
  readonly meter: ReadMeter;
  readonly missing: MissingRow;
  /** Gives rows of the relation's model the shape that its query asks for, with relations of their own. */
  readonly shape: (target: TableContext, rows: readonly AnyRow[]) => Promise<AnyRow[]>;
}
