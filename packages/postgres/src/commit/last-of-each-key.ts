import type { StoredMutation } from "@keywright/core";
import { isCombination } from "./resolve-combinations.js";

/** A mutation, and its key as a text. */
export interface KeyedMutation {
  readonly mutation: StoredMutation;
  readonly text: string;
}

/** Returns the mutations of one write without those that a later one of the same key replaces. */
export function lastOfEachKey(mutations: readonly KeyedMutation[]): readonly KeyedMutation[] {
  const texts = new Set<string>();
  for (const { text } of mutations) texts.add(text);
  if (texts.size === mutations.length) return mutations;
  const kept = new Map<string, KeyedMutation[]>();
  for (const keyed of mutations) {
    const { mutation, text } = keyed;
    const isStamped = mutation.type === "set" && mutation.endsInVersionstamp === true;
    const name = isStamped ? `stamped ${text}` : `key ${text}`;
    const before = kept.get(name) ?? [];
    const isExpiry = (each: KeyedMutation) => each.mutation.type === "deleteExpired";
    if (isCombination(mutation)) kept.set(name, [...before, keyed]);
    else if (!isExpiry(keyed)) kept.set(name, [...before.filter(isExpiry), keyed]);
    // A key that was changed before it has not expired, or is found expired by its next hint.
    else if (before.every(isExpiry)) kept.set(name, [...before, keyed]);
  }
  return [...kept.values()].flat();
}
