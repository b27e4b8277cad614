import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, ownPrefix } from "../model/compiled-model.js";

/** How far the building of a model's new counters has come, stored beside the catalog. */
export interface CountingState {
  readonly format: 1;
  /** The counters that are built: see `declaredCounters`. */
  readonly counters: readonly string[];
  /** The primary key of the last row that was looked at; null before the first. */
  readonly after: readonly KvKeyPart[] | null;
  readonly rowsDone: number;
}

export function countingKey(model: CompiledModel): KvKey {
  return [ownPrefix, "counting", model.prefix];
}

/** The beginning of the keys of all marks of a model: see {@link countedMarkKey}. */
export function countedMarksPrefix(model: CompiledModel): KvKey {
  return [ownPrefix, "counted", model.prefix];
}

/**
 * There while counters are built, for each row that they hold already. Who counts a row sets its mark in the same commit,
 * whoever is first, a writer or the build; who changes or deletes one takes it out only where the mark is there.
 */
export function countedMarkKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [...countedMarksPrefix(model), ...primaryKey];
}
