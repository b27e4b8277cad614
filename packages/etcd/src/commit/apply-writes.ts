import type { AtomicWrite, StoredEntry } from "@keywright/core";
import { combineU64, hasExpired } from "@keywright/core/engine";
import { overlap, type PendingWrite, rangeOfChange, textOf } from "./pending-write.js";

type Mutation = AtomicWrite["mutations"][number];

/** The stored entries of keys, by the texts of the keys. An error stands for a damaged record. */
export type KnownState = ReadonlyMap<string, StoredEntry | Error | undefined>;

/** The last change of a key by the writes of a component. */
export interface KeyChange {
  /** The key of the entry, without a versionstamp at its end. */
  readonly key: Uint8Array;
  /** Undefined if the key is deleted. */
  readonly value: Uint8Array | undefined;
  readonly expireAt: number | undefined;
  readonly endsInVersionstamp: boolean;
  /** True if it only removes an entry that has expired, or its hint. */
  readonly isExpiry: boolean;
  /** The write that makes the change. */
  readonly by: PendingWrite;
}

/**
 * For writes with range checks: true if these hold in the stored state, or an error if one is not
 * valid. Those of other writes are taken to hold.
 */
export type RangeOutcomes = ReadonlyMap<PendingWrite, boolean | Error>;

export interface AppliedWrites {
  /** For each write: true if it is applied, null if a check failed, or its error. */
  readonly outcomes: ReadonlyMap<PendingWrite, true | null | Error>;
  /** The last change of each key. */
  readonly changes: readonly KeyChange[];
}

/**
 * Applies writes in order to a known state, and returns what they change in the end. Without a
 * state, the checks are taken to hold, and no mutation may depend on what is stored.
 *
 * @param now milliseconds since the epoch. An entry that expires at or before it does not exist.
 */
export function applyWrites(
  writes: readonly PendingWrite[],
  state: KnownState | undefined,
  now: number,
  ranges: RangeOutcomes,
): AppliedWrites {
  const changes = new Map<string, KeyChange>();
  const outcomes = new Map<PendingWrite, true | null | Error>();
  for (const pending of writes) {
    const own = new Map<string, KeyChange>();
    const changeOf = (text: string) => own.get(text) ?? changes.get(text);
    try {
      const inRanges = ranges.get(pending) ?? true;
      if (inRanges instanceof Error) throw inRanges;
      const holds =
        inRanges &&
        !hasChangeInRanges(pending, changes) &&
        (state === undefined || checksHold(pending.write, state, changes, now));
      outcomes.set(pending, holds ? true : null);
      if (!holds) continue;
      for (const mutation of pending.write.mutations) {
        for (const [text, change] of changesOf(mutation, pending, changeOf, state, now)) {
          own.set(text, change);
        }
      }
      for (const [text, change] of own) changes.set(text, change);
    } catch (error) {
      outcomes.set(pending, error as Error);
    }
  }
  return { outcomes, changes: [...changes.values()] };
}

function hasChangeInRanges(
  { readRanges }: PendingWrite,
  changes: ReadonlyMap<string, KeyChange>,
): boolean {
  if (readRanges.length === 0) return false;
  return [...changes.values()].some(({ key, endsInVersionstamp, isExpiry }) => {
    const changed = rangeOfChange(key, endsInVersionstamp);
    return !isExpiry && readRanges.some((range) => overlap(range, changed));
  });
}

function checksHold(
  { checks }: AtomicWrite,
  state: KnownState,
  changes: ReadonlyMap<string, KeyChange>,
  now: number,
): boolean {
  return checks.every(({ key, versionstamp }) => {
    const text = textOf(key);
    const change = changes.get(text);
    if (change === undefined) {
      const entry = storedOf(state, text, now);
      return (entry?.versionstamp ?? null) === versionstamp;
    }
    // The entry of a write before this one has a versionstamp that nobody knows yet.
    return versionstamp === null && isAbsent(change, now);
  });
}

function changesOf(
  mutation: Mutation,
  by: PendingWrite,
  changeOf: (text: string) => KeyChange | undefined,
  state: KnownState | undefined,
  now: number,
): [string, KeyChange][] {
  const { type, key } = mutation;
  const text = textOf(key);
  const change = {
    key,
    by,
    value: undefined,
    expireAt: undefined,
    endsInVersionstamp: false,
    isExpiry: false,
  };
  if (type === "set") {
    const { value, expireAt, endsInVersionstamp = false } = mutation;
    // A write has one versionstamp. Its keys that end in it differ in what is before it.
    const name = endsInVersionstamp ? `${by.index} ${text}` : text;
    return [[name, { ...change, value, expireAt, endsInVersionstamp }]];
  }
  if (type === "delete") return [[text, change]];
  const before = changeOf(text);
  const entry = before === undefined ? storedOf(state!, text) : entryOf(before);
  if (type === "deleteExpired") {
    const expires = entry?.expireAt !== undefined;
    const isOver = entry !== undefined && hasExpired(entry, now);
    const removal = { ...change, isExpiry: before === undefined || before.isExpiry };
    const changes: [string, KeyChange][] = isOver ? [[text, removal]] : [];
    const { hint } = mutation;
    if (hint === undefined) return changes;
    // If the clock was set back, the entry has yet to expire and its hint is still needed.
    const isNeeded = expires && !isOver && entry.expireAt! <= hint.dueAt;
    if (!isNeeded) changes.push([textOf(hint.key), { ...removal, key: hint.key }]);
    return changes;
  }
  const unexpired = entry !== undefined && hasExpired(entry, now) ? undefined : entry;
  return [[text, { ...change, value: combineU64(mutation, unexpired) }]];
}

/** @throws {CorruptionError} if the stored record is damaged. */
function storedOf(state: KnownState, text: string, now?: number): StoredEntry | undefined {
  const entry = state.get(text);
  if (entry instanceof Error) throw entry;
  if (entry === undefined || (now !== undefined && hasExpired(entry, now))) return undefined;
  return entry;
}

function isAbsent(change: KeyChange, now: number): boolean {
  return change.value === undefined || hasExpired(change, now);
}

function entryOf(change: KeyChange): StoredEntry | undefined {
  if (change.value === undefined) return undefined;
  return { key: change.key, value: change.value, versionstamp: "", expireAt: change.expireAt };
}
