import type { Kv, KvKey, KvKeyPart, Progress } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import { count, key, listOf, nullable, object, text } from "../../model/shape.js";
import { storedProgress } from "../../state/catalog/backfill-state.js";
import type { CatalogEntry, IndexState } from "../../state/catalog/catalog-entry.js";
import { readSystemValue, type SystemShape } from "../../state/catalog/system-value.js";

/** The progress of a build of counters and ranks, as it is stored. */
export interface CountingState {
  readonly format: 1;
  readonly counters: readonly string[];
  /** The primary key of the last row that has been processed. Null before the first row. */
  readonly after: readonly KvKeyPart[] | null;
  readonly rowsDone: number;
}

const countingShape: SystemShape<CountingState> = {
  problemOf: object({ counters: listOf(text), after: nullable(key), rowsDone: count }),
  remedy: "delete it, and run migrate again",
};

export function countingKey(model: CompiledModel): KvKey {
  return [systemPrefix, "counting", model.prefix];
}

export async function readCountingState(
  kv: Kv,
  model: CompiledModel,
): Promise<CountingState | null> {
  return await readSystemValue(kv, countingKey(model), countingShape, model.name);
}

export interface CounterStatus {
  readonly state: IndexState;
  /** The progress of the build; null if the counter is not being built. */
  readonly progress: Progress<"building"> | null;
}

/** Returns the states of all counters that an entry has, by their names. */
export async function readCounterStatuses(
  kv: Kv,
  model: CompiledModel,
  { counters = {} }: CatalogEntry,
): Promise<Record<string, CounterStatus>> {
  const counting = await readCountingState(kv, model);
  const statuses: Record<string, CounterStatus> = {};
  for (const [name, state] of Object.entries(counters)) {
    const isCounted = counting?.counters.includes(name) === true;
    statuses[name] = { state, progress: isCounted ? storedProgress("building", counting) : null };
  }
  return statuses;
}
