import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { AtomicWrite, Engine, StoredEntry, StoredMutation } from "../../engine/engine.js";
import { isConsumerPositionKey } from "../../engine/log/consumer-keys.js";
import { isLoggedCommit, isLoggedKey, logRecords } from "../../engine/log/log-keys.js";
import { type ChangeToLog, encodeLogRecord } from "../../engine/log/log-record.js";

/** A write with its record of the log, as it was when its keys were read. */
export interface LoggedWrite {
  readonly write: AtomicWrite;
  /** True if one of the keys that were read for the record has changed since. */
  readonly hasChanged: () => Promise<boolean>;
}

/**
 * Adds the record of the log to a write, for an engine that does not make records. It reads what
 * the write changes, and the write then checks that this has not changed. Sums, minima and maxima
 * are logged with their operands, so that they need no check and do not conflict.
 */
export async function addLogRecord(
  engine: Pick<Engine, "getMany" | "limits">,
  write: AtomicWrite,
): Promise<LoggedWrite> {
  const keys = keysToRead(write.mutations);
  const texts = [...keys.keys()];
  const stored = await readAll(engine, [...keys.values()]);
  const before = new Map(texts.map((text, index) => [text, stored[index] ?? null]));
  const versions = (entries: readonly (StoredEntry | null | undefined)[]) =>
    entries.map((entry) => entry?.versionstamp ?? null).join();
  const hasChanged = async () =>
    versions(await readAll(engine, [...keys.values()])) !== versions(stored);
  const checks = texts.map((text) => ({
    key: keys.get(text)!,
    versionstamp: before.get(text)?.versionstamp ?? null,
  }));
  const checked = { ...write, checks: [...write.checks, ...checks] };
  const changes = changesOf(write.mutations, before);
  if (!isLoggedCommit(changes)) return { write: checked, hasChanged };
  const value = encodeLogRecord(Date.now(), changes, write.context);
  const record = { type: "set", key: logRecords.start, value, endsInVersionstamp: true } as const;
  return { write: { ...checked, mutations: [...write.mutations, record] }, hasChanged };
}

async function readAll(
  engine: Pick<Engine, "getMany" | "limits">,
  keys: readonly Uint8Array[],
): Promise<(StoredEntry | undefined)[]> {
  const entries: (StoredEntry | undefined)[] = [];
  const { keys: most = keys.length } = engine.limits;
  for (let i = 0; i < keys.length; i += most)
    entries.push(...(await engine.getMany(keys.slice(i, i + most))));
  return entries;
}

/** By text: the keys whose entries the record has. */
function keysToRead(mutations: readonly StoredMutation[]): Map<string, Uint8Array> {
  const keys = new Map<string, Uint8Array>();
  for (const mutation of mutations) {
    const { key } = mutation;
    if (isLoggedKey(key) && !isBlind(mutation)) keys.set(textOfBytes(key), key);
  }
  return keys;
}

/** True if the mutation is logged without what was stored before. */
function isBlind(mutation: StoredMutation): boolean {
  if ("operand" in mutation || isConsumerPositionKey(mutation.key)) return true;
  return mutation.type === "set" && mutation.endsInVersionstamp === true;
}

function changesOf(
  mutations: readonly StoredMutation[],
  states: ReadonlyMap<string, StoredEntry | null>,
): ChangeToLog[] {
  const changes: ChangeToLog[] = [];
  /** The position of the change of each key that was read. */
  const positions = new Map<string, number>();
  const combined = new Set<string>();
  for (const mutation of mutations) {
    const { key } = mutation;
    if (!isLoggedKey(key)) continue;
    const text = textOfBytes(key);
    const before = states.get(text) ?? null;
    const change = changeOf(mutation, before);
    if (change === undefined) continue;
    const position = positions.get(text);
    // The changes of a key become one, but not across a sum, which needs the changes before it.
    if ("operand" in mutation) {
      positions.delete(text);
      combined.add(text);
    }
    if (isBlind(mutation)) changes.push(change);
    else if (position === undefined) positions.set(text, changes.push(change) - 1);
    else changes[position] = change;
  }
  // After a sum there is something to delete.
  const isDeleted = (key: Uint8Array) => combined.size > 0 && combined.has(textOfBytes(key));
  return changes.filter(
    ({ type, key, before }) => type !== "delete" || before !== null || isDeleted(key),
  );
}

function changeOf(mutation: StoredMutation, before: StoredEntry | null): ChangeToLog | undefined {
  const { key } = mutation;
  switch (mutation.type) {
    case "set": {
      const type = mutation.endsInVersionstamp === true ? "setAtVersionstamp" : "set";
      const { value, expireAt } = mutation;
      return { type, key, before, after: { value, expireAt } };
    }
    case "delete":
      return { type: "delete", key, before, after: null };
    case "deleteExpired":
      // Reads do not return an entry that has expired, and one that they return stays.
      return before === null ? { type: "expire", key, before: null, after: null } : undefined;
    default:
      return { type: mutation.type, key, before: null, after: null, operand: mutation.operand };
  }
}
