import type { Kv } from "@keywright/core";
import type { Counter } from "../../model/aggregates/counter.js";
import type { SummedField } from "../../model/aggregates/summed-field.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { KvReads } from "../../state/catalog/capabilities-of.js";
import type { ReadView } from "../../state/context/read-view.js";

/** A ranked index, and the reads by which its intervals are found. */
export interface RankedReads {
  readonly kv: KvReads;
  readonly model: CompiledModel;
  readonly index: CompiledIndex;
  readonly counter: Counter;
  readonly sums: readonly SummedField[];
  /** The maximum number of entries that are read from one snapshot. */
  readonly batchSize: number;
  /** The maximum number of keys that are read together. */
  readonly maxKeys: number;
}

/** A ranked index with the database that its intervals are changed in. */
export interface RankedTable extends RankedReads {
  readonly kv: Kv;
}

/** Returns the counter with the ranks of an index. Undefined if it is not ranked. */
export function rankedCounterOf(
  { counters }: CompiledModel,
  index: CompiledIndex | undefined,
): Counter | undefined {
  if (index?.ranked !== true) return undefined;
  return counters.find((counter) => {
    return counter.index === index.name && counter.ranked !== undefined;
  });
}

/** Returns the index of a counter with ranks, to read and change its intervals. */
export function rankedTable<Reads extends KvReads>(
  { kv, model, limits }: Pick<ReadView, "model" | "limits"> & { readonly kv: Reads },
  counter: Counter,
): (RankedReads & { readonly kv: Reads }) | undefined {
  const index = model.indexes.find(({ name }) => name === counter.index);
  if (index === undefined || counter.ranked === undefined) return undefined;
  const { batchSize, keys: maxKeys } = limits;
  return { kv, model, index, counter, sums: counter.ranked, batchSize, maxKeys };
}
