import type { AnyRow } from "../../model/compiled-model.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { IncludedRelation } from "./include-query.js";

/** The result of a required relation whose row is missing: an error (`"refused"`) or null. */
export type MissingRow = "refused" | "null";

/** A relation to load for some rows. */
export interface RelationLoad extends IncludedRelation {
  readonly view: ReadView;
  /** Whole rows, with all of their fields. */
  readonly rows: readonly AnyRow[];
  readonly meter: ReadMeter;
  readonly missing: MissingRow;
  /** Applies the `select` and `include` of the relation's query to rows of the relation's model. */
  readonly shape: (target: ReadView, rows: readonly AnyRow[]) => Promise<AnyRow[]>;
}
