import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, ownPrefix } from "../../model/compiled-model.js";

/**
 * How far a change of all rows of a model has come, stored beside the catalog by each of its batches. It says where to go on,
 * and not which rows are done: that is said by their versionstamps.
 */
export interface TransformState {
  readonly format: 1;
  /** That of the catalog's `transform`. */
  readonly id: string;
  /** The primary key of the last row that was looked at; null before the first. */
  readonly after: readonly KvKeyPart[] | null;
  readonly rowsDone: number;
  /** Rows that were there when the change began. */
  readonly rowsTotal: number;
  /** Rows that are recorded as failed: see `failedRowKey`. */
  readonly failed: number;
}

export function transformStateKey(model: CompiledModel): KvKey {
  return [ownPrefix, "transforming", model.prefix];
}
