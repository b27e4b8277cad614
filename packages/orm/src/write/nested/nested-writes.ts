import type { AnyRow } from "../../model/compiled-model.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { FindRow } from "../rows/find-row.js";
import type { DataPath, Refuse } from "./nested-operation.js";

/** The data of one row within a nested write. */
export interface RowData {
  readonly data: AnyRow;
  readonly path: DataPath;
  /** The fields of the reference to the row above. The data must not contain them. */
  readonly reference?: AnyRow | undefined;
}

/** The rows of one nested write. All methods write through its transaction. */
export interface NestedWrites {
  readonly meter: ReadMeter;
  readonly refuse: Refuse;
  /** Runs a part of the write. Its errors name the place in the data. */
  at<T>(path: DataPath, run: () => Promise<T>): Promise<T>;
  /** Creates a row and what its data has for its relations. */
  create(context: TableContext, row: RowData): Promise<FoundRow>;
  /** Changes a row and what its data has for its relations. */
  update(context: TableContext, find: FindRow, where: AnyRow, row: RowData): Promise<FoundRow>;
}
