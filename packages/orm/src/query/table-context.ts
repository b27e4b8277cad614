import type { Kv, KvLimits } from "@keywright/core";
import type { ModelCatalog } from "../catalog/model-catalog.js";
import type { CompiledModel } from "../model/compile-model.js";

/** What reading and writing a model's rows needs. */
export interface TableContext {
  readonly kv: Kv;
  readonly model: CompiledModel;
  readonly catalog: ModelCatalog;
  readonly limits: TableLimits;
}

/** How much a database takes at once, as far as it matters here. */
export type TableLimits = Pick<KvLimits, "checks" | "mutations" | "keys">;

/** Deno KV's limits, the lowest of its releases, for databases that do not state theirs. */
const denoLimits: TableLimits = { checks: 10, mutations: 1000, keys: 10 };

/** The limits of a database: those that it states, or Deno KV's. */
export function limitsOf(kv: Kv & { readonly limits?: KvLimits }): TableLimits {
  return kv.limits ?? denoLimits;
}
