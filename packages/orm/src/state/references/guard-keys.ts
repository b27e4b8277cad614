import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";

/** The prefix of every {@link deleteJobKey}. */
export const deleteJobsPrefix: KvKey = [systemPrefix, "cascade"];

/** Returns the prefix of the guards of all rows under a place. */
export function guardsPrefix(place: string): KvKey {
  return [systemPrefix, "refs", place];
}

/**
 * Returns the key of a row's guard. Each commit that makes a reference to the row adds 1 to it, and
 * nothing is ever subtracted. Only the fact that it changes matters: a delete looks for references
 * and then checks in its commit that the guard has not changed since.
 */
export function referenceGuardKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [...guardsPrefix(model.place), ...primaryKey];
}

/**
 * Returns the key of the entry that records that a row and what was deleted with it are being
 * restored in steps: the time with which they were marked.
 */
export function restoreJobKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [systemPrefix, "restore", model.place, ...primaryKey];
}

/** Returns the key of the entry that records that a row is being deleted in steps. */
export function deleteJobKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [...deleteJobsPrefix, model.place, ...primaryKey];
}
