import { Buffer } from "node:buffer";
import {
  type AtomicWrite,
  encodeValue,
  KvU64,
  type StoredEntry,
  type StoredMutation,
} from "@keywright/core";
import { combineU64 } from "@keywright/core/engine";
import { operation } from "../sql/operations.js";

type CombineMutation = Extract<StoredMutation, { operand: bigint }>;

/** A batch as the parameters of the function: one item for each operation. */
export interface EncodedBatch {
  readonly operations: number[];
  readonly keys: (Buffer | null)[];
  readonly values: (Buffer | null)[];
  readonly times: (number | null)[];
  /** The mutations to which the operations belong, for the errors of their outcomes. */
  readonly sources: (StoredMutation | undefined)[];
}

export function encodeBatch(writes: readonly AtomicWrite[]): EncodedBatch {
  const batch: EncodedBatch = { operations: [], keys: [], values: [], times: [], sources: [] };
  for (const write of writes) addWrite(batch, write);
  return batch;
}

interface Operation {
  readonly key?: Uint8Array | undefined;
  readonly value?: Uint8Array | undefined;
  readonly time?: number | undefined;
  readonly source?: StoredMutation | undefined;
}

function add(batch: EncodedBatch, name: keyof typeof operation, rest: Operation = {}): void {
  batch.operations.push(operation[name]);
  batch.keys.push(bufferOf(rest.key));
  batch.values.push(bufferOf(rest.value));
  batch.times.push(rest.time ?? null);
  batch.sources.push(rest.source);
}

function addWrite(batch: EncodedBatch, { checks, mutations }: AtomicWrite): void {
  add(batch, "begin");
  for (const { key, versionstamp } of checks) {
    const value = versionstamp === null ? undefined : Buffer.from(versionstamp, "hex");
    add(batch, "check", { key, value });
  }
  const resolved = resolveCombinations(mutations);
  // The function refuses a write before it applies a part of it.
  for (const each of resolved) {
    if (each === undefined) continue;
    if ("failed" in each) add(batch, "fail", { source: each.failed });
    else if (isCombination(each)) add(batch, "checkU64", { key: each.key, source: each });
  }
  for (const each of resolved) if (!("failed" in each)) addMutation(batch, each);
  if (mutations.length === 0) add(batch, "delete");
}

function addMutation(batch: EncodedBatch, mutation: StoredMutation): void {
  const { type, key } = mutation;
  if (type === "set") {
    const name = mutation.endsInVersionstamp ? "setAtVersionstamp" : "set";
    add(batch, name, { key, value: mutation.value, time: mutation.expireAt });
  } else if (type === "delete") {
    add(batch, "delete", { key });
  } else if (type === "deleteExpired") {
    add(batch, "deleteExpired", { key, value: mutation.hint?.key, time: mutation.hint?.dueAt });
  } else {
    add(batch, type, { key, value: encodeValue(new KvU64(mutation.operand)) });
  }
}

/** A `sum`, `min` or `max` of a value that the same write has stored and that is no `KvU64`. */
interface FailedCombination {
  readonly failed: CombineMutation;
}

/**
 * Replaces each `sum`, `min` or `max` of a key that the same write sets or deletes before it by the
 * `set` of its result. The others depend only on what is stored before the write.
 */
function resolveCombinations(
  mutations: readonly StoredMutation[],
): (StoredMutation | FailedCombination)[] {
  const known = new Map<string, Uint8Array | null>();
  return mutations.map((mutation) => {
    const { type, key } = mutation;
    const text = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
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

/** Returns null if the entry has already expired. */
function currentValueOf({
  value,
  expireAt,
}: Extract<StoredMutation, { type: "set" }>): Uint8Array | null {
  return expireAt !== undefined && expireAt <= Date.now() ? null : value;
}

function isCombination(mutation: StoredMutation): mutation is CombineMutation {
  return "operand" in mutation;
}

function bufferOf(bytes: Uint8Array | undefined): Buffer | null {
  if (bytes === undefined) return null;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
