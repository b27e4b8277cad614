import type { Kv, KvLimits } from "@keywright/core";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { ModelCatalog } from "../catalog/model-catalog.js";

/** One model in a database. */
export interface ModelStore {
  /** The database, or the transaction that reads and writes go through. */
  readonly kv: Kv;
  readonly model: CompiledModel;
  readonly catalog: ModelCatalog;
  readonly limits: TableLimits;
}

export type TableLimits = Pick<
  KvLimits,
  "checks" | "mutations" | "keys" | "keyBytes" | "batchSize"
>;
