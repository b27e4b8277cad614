import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, ownPrefix } from "../model/compiled-model.js";

/** The beginning of the keys of all {@link deleteJobKey}s. */
export const deleteJobsPrefix: KvKey = [ownPrefix, "cascade"];

/**
 * Where references to a row are counted: each commit that makes one adds 1, none takes any away. What counts is that it
 * changes: a delete that looked for references checks at its commit that none was made since.
 */
export function referenceGuardKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [ownPrefix, "refs", model.prefix, ...primaryKey];
}

/** Where it is written down that a row is being deleted in steps. */
export function deleteJobKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [...deleteJobsPrefix, model.prefix, ...primaryKey];
}
