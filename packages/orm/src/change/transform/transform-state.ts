import type { Kv, KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import { count, key, nullable, object, text } from "../../model/shape.js";
import { readSystemValue, type SystemShape } from "../../state/catalog/system-value.js";

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

const transformShape: SystemShape<TransformState> = {
  problemOf: object({
    id: text,
    after: nullable(key),
    rowsDone: count,
    rowsTotal: count,
    failed: count,
  }),
  remedy: "delete it, and run migrate again",
};

export function transformStateKey(model: CompiledModel): KvKey {
  return [systemPrefix, "transforming", model.prefix];
}

export async function readTransformState(
  kv: Kv,
  model: CompiledModel,
): Promise<TransformState | null> {
  return await readSystemValue(kv, transformStateKey(model), transformShape, model.name);
}
