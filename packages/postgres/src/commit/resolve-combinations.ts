import type { StoredEntry, StoredMutation } from "@keywright/core";
import { combineU64 } from "@keywright/core/engine";

export type CombineMutation = Extract<StoredMutation, { operand: bigint }>;

/** A `sum`, `min` or `max` of a value that the same write has stored and that is no `KvU64`. */
export interface FailedCombination {
  readonly failed: CombineMutation;
}

/**
 * Replaces each `sum`, `min` or `max` of a key that the same write sets or deletes before it by the
 * `set` of its result. The others depend only on what is stored before the write.
 *
 * @param texts the keys as texts.
 */
export function resolveCombinations(
  mutations: readonly StoredMutation[],
  texts: readonly string[],
): (StoredMutation | FailedCombination)[] {
  if (!mutations.some(isCombination)) return [...mutations];
  const known = new Map<string, Uint8Array | null>();
  return mutations.map((mutation, index) => {
    const { type, key } = mutation;
    const text = texts[index]!;
    if (type === "delete") known.set(text, null);
    if (type === "set" && !mutation.endsInVersionstamp) known.set(text, currentValueOf(mutation));
    if (!isCombination(mutation) || !known.has(text)) return mutation;
    const value = known.get(text) ?? undefined;
    try {
      const entry = value === undefined ? undefined : ({ key, value } as StoredEntry);
      const result = combineU64(mutation, entry);
      known.set(text, result);
      return { type: "set", key, value: result };
    } catch {
      return { failed: mutation };
    }
  });
}

export function isCombination(mutation: StoredMutation): mutation is CombineMutation {
  return "operand" in mutation;
}

/** Returns null if the entry has already expired. */
function currentValueOf({
  value,
  expireAt,
}: Extract<StoredMutation, { type: "set" }>): Uint8Array | null {
  return expireAt !== undefined && expireAt <= Date.now() ? null : value;
}
