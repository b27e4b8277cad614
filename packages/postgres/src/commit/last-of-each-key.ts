import type { StoredMutation } from "@keywright/core";
import { isCombination } from "./resolve-combinations.js";
import { textOf } from "./text-of.js";

/** Returns the mutations of one write without those that a later one of the same key replaces. */
export function lastOfEachKey(mutations: readonly StoredMutation[]): readonly StoredMutation[] {
  if (mutations.length < 2) return mutations;
  const kept = new Map<string, StoredMutation[]>();
  for (const mutation of mutations) {
    const text = textOf(mutation.key);
    const isStamped = mutation.type === "set" && mutation.endsInVersionstamp === true;
    const name = isStamped ? `stamped ${text}` : `key ${text}`;
    const before = kept.get(name) ?? [];
    if (isCombination(mutation)) kept.set(name, [...before, mutation]);
    else if (mutation.type !== "deleteExpired")
      kept.set(name, [...before.filter(({ type }) => type === "deleteExpired"), mutation]);
    // A key that was changed before it has not expired, or is found expired by its next hint.
    else if (before.every(({ type }) => type === "deleteExpired"))
      kept.set(name, [...before, mutation]);
  }
  return [...kept.values()].flat();
}
