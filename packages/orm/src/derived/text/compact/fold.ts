import type { ModelStore } from "../../../state/context/model-store.js";
import { isLimitError } from "../../../state/transaction/limit-error-of.js";
import { readFresh } from "../read-fresh.js";
import { bytesIn } from "../stored-bytes.js";
import { documentKey, primaryKeyOfFresh, stateKey, type TextGroup } from "../text-keys.js";
import { type TextState, textState } from "../text-state.js";
import { segmentOf } from "./segment-of.js";

/** The result of a fold: `"few"` if there were fewer fresh documents than it is worth. */
export type Fold = "folded" | "few" | "conflict";

/**
 * Makes a segment of the fresh documents of a group, in one commit. It fails if one of them or the
 * list of segments changes before it.
 *
 * @param min the fewest documents that are worth a segment.
 * @param max the most documents that it takes.
 */
export async function foldFresh(
  store: ModelStore,
  group: TextGroup,
  min: number,
  max: number,
): Promise<Fold> {
  const { kv, model, catalog, limits } = store;
  // The commit also checks the catalog and the list of segments.
  let most = Math.max(1, Math.min(max, limits.checks - 2));
  for (;;) {
    const { check } = catalog.snapshot;
    const stored = await kv.get(stateKey(group));
    const fresh = await readFresh(store, group, most);
    if (fresh.length < Math.min(min, most) || fresh.length === 0) return "few";
    const state = textState(model, stored);
    const documents = fresh.map((entry) => ({
      key: documentKey(primaryKeyOfFresh(group, entry.key)),
      bytes: bytesIn(model, entry),
    }));
    const { entries, segment } = segmentOf(group, state.next, documents);
    const next: TextState = {
      ...state,
      next: state.next + 1,
      segments: [...state.segments, segment],
    };
    const operation = kv.atomic().check(check, stored);
    try {
      for (const { key, versionstamp } of fresh) operation.check({ key, versionstamp }).delete(key);
      for (const { key, value } of entries) operation.set(key, value);
      operation.set(stored.key, next);
      const { ok } = await operation.commit();
      return ok ? "folded" : "conflict";
    } catch (error) {
      if (!isLimitError(error) || most === 1) throw error;
      most = Math.ceil(Math.min(most, fresh.length) / 2);
    }
  }
}
