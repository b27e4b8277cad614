import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../model/compiled-model.js";
import type { ReadView } from "../state/context/read-view.js";
import type { RowChange } from "./derived.js";
import type { Effects } from "./effects.js";

// Counters and ranks must include each row exactly once. One pass over the rows builds both, and
// these marks say which rows it has seen.

export function seenPrefix(model: CompiledModel): KvKey {
  return [systemPrefix, "counted", model.prefix];
}

/**
 * Returns the key of the mark of a row. While counters and ranks are built, each row that they
 * include has a mark. The commit that adds the row sets it. This is a commit of a writer or of the
 * build, whichever comes first. A commit that changes or deletes a row subtracts the old row only
 * if it has a mark.
 */
export function seenKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  return [...seenPrefix(model), ...primaryKey];
}

/** Marks the row as seen by the build that is under way. Returns true if it was already. */
export async function markSeen(
  { kv, model }: ReadView,
  { primaryKey, after }: RowChange,
  { checks, writes }: Effects,
): Promise<boolean> {
  const key = seenKey(model, primaryKey);
  const { versionstamp } = await kv.get(key);
  checks.push({ key, versionstamp });
  writes.push(after === undefined ? { type: "delete", key } : { type: "set", key, value: true });
  return versionstamp !== null;
}
