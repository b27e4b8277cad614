import type { EngineLimits, Kv } from "@keywright/core";
import type { ModelCatalog } from "../catalog/model-catalog.js";
import type { CompiledModel } from "../model/compile-model.js";

/** What reading and writing a model's rows needs. */
export interface TableContext {
  readonly kv: Kv;
  readonly model: CompiledModel;
  readonly catalog: ModelCatalog;
  readonly limits: KvLimits;
}

/** How much a database takes at once. */
export interface KvLimits {
  readonly checks: number;
  readonly mutations: number;
  /** Keys of one `getMany`. */
  readonly keys: number;
}

/** Deno KV's limits, the lowest of its releases, for databases that do not state theirs. */
const denoLimits: KvLimits = { checks: 10, mutations: 1000, keys: 10 };

/** The limits of a database: those that it states, or Deno KV's. */
export function limitsOf(kv: Kv): KvLimits {
  const stated = (kv as { limits?: EngineLimits }).limits;
  return stated === undefined ? denoLimits : { keys: Number.POSITIVE_INFINITY, ...stated };
}
