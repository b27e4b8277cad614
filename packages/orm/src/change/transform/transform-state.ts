import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";

/** The position at which to resume. Which rows are done is known by their versionstamps. */
export interface TransformState {
  readonly format: 1;
  /** The id of the catalog's `transform`. */
  readonly id: string;
  /** The primary key of the last row that was read; null before the first row. */
  readonly after: readonly KvKeyPart[] | null;
  readonly rowsDone: number;
  /** The number of rows when the transform began. */
  readonly rowsTotal: number;
  /** The number of rows that are recorded as failed: see `failedRowKey`. */
  readonly failed: number;
}

export function transformStateKey(model: CompiledModel): KvKey {
  return [systemPrefix, "transforming", model.prefix];
}
