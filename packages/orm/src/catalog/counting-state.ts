import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../model/compiled-model.js";

export interface CountingState {
  readonly format: 1;
  readonly counters: readonly string[];
  /** The primary key of the last row that has been processed. Null before the first row. */
  readonly after: readonly KvKeyPart[] | null;
  readonly rowsDone: number;
}

export function countingKey(model: CompiledModel): KvKey {
  return [systemPrefix, "counting", model.prefix];
}

export function countedMarksPrefix(model: CompiledModel): KvKey {
  return [systemPrefix, "counted", model.prefix];
}

/**
 * Returns the key of the mark of a row. While counters are built, each row that they include has a
 * mark. The commit that counts the row sets it. This is a commit of a writer or of the build,
 * whichever comes first. A commit that changes or deletes a row subtracts the old row from the
 * counters only if it has a mark.
 */
export function countedMarkKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [...countedMarksPrefix(model), ...primaryKey];
}
