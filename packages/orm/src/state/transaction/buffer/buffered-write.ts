import {
  type AtomicOperation,
  decodeValue,
  encodeValue,
  type KvEntryMaybe,
  type KvKey,
  KvU64,
  NotU64Error,
} from "@keywright/core";
import { currentTime, lifetimeOf, type Time, timeAfter } from "../../../model/rows/time.js";
import { bytesOfId, copyOfKey, type KeyId } from "./key-id.js";
import { type SetUntilOptions, setUntil } from "./set-until.js";

/** A 64-bit unsigned integer of any implementation. Each database has its own class. */
export interface AnyU64 {
  readonly value: bigint;
}

export interface BufferedValue {
  readonly bytes: Uint8Array;
  /** The class of a 64-bit unsigned integer. Undefined for other values. */
  readonly u64Class: (new (value: bigint) => AnyU64) | undefined;
  /**
   * Milliseconds, counted from the commit. Undefined if `expireAt` is used, or if it does not
   * expire.
   */
  readonly expireIn: number | undefined;
  /** With `expireIn`, as if it had been committed at once. */
  readonly expireAt: Time | undefined;
}

export interface NumberStep {
  readonly type: "sum" | "min" | "max";
  readonly operand: bigint;
}

export interface BufferedWrite {
  readonly key: KvKey;
  /** The new value. Null if the key is deleted. Undefined if the value in the database stays. */
  readonly stored: BufferedValue | null | undefined;
  /** The operations that are then applied to the value, in order. */
  readonly steps: readonly NumberStep[];
  /** Null if the key is now absent. */
  readonly versionstamp: string | null;
}

export function bufferedValue(value: unknown, options: SetUntilOptions = {}): BufferedValue {
  const bytes = encodeValue(value);
  const isU64 = isU64Like(value) && decodeValue(bytes) instanceof KvU64;
  const u64Class = isU64 ? (value.constructor as BufferedValue["u64Class"]) : undefined;
  const { expireIn, expireAt } = options;
  if (expireAt !== undefined || expireIn === undefined) {
    return { bytes, u64Class, expireIn: undefined, expireAt };
  }
  return { bytes, u64Class, expireIn, expireAt: timeAfter(currentTime(), lifetimeOf(expireIn)) };
}

/** Returns the options of the `set` in a commit at `now`. */
export function setOptionsOf({ expireIn, expireAt }: BufferedValue, now: Time): SetUntilOptions {
  if (expireIn !== undefined) return { expireIn };
  return expireAt === undefined ? {} : setUntil(expireAt, now);
}

export function storedValue({ bytes, u64Class }: BufferedValue): unknown {
  const value = decodeValue(bytes);
  return u64Class !== undefined && value instanceof KvU64 ? new u64Class(value.value) : value;
}

/** Adds a `sum`, `min` or `max` to a write, or joins it with a last step of the same type. */
export function withStep(
  before: BufferedWrite | undefined,
  { key, id, step }: { readonly key: KvKey; readonly id: KeyId; readonly step: NumberStep },
  versionstamp: string,
): BufferedWrite {
  const stored = before?.stored;
  if (stored && stored.u64Class === undefined) throw new NotU64Error(step.type, bytesOfId(id));
  const steps = [...(before?.steps ?? [])];
  const last = steps.at(-1);
  if (last?.type === step.type) {
    steps[steps.length - 1] = { type: step.type, operand: applyStep(last.operand, step) };
  } else {
    steps.push(step);
  }
  return { key, stored, steps, versionstamp };
}

/** @param base the database's entry. It is used only if `stored` is undefined. */
export function entryAfterWrite(
  { key, stored, steps, versionstamp }: BufferedWrite,
  id: KeyId,
  base: KvEntryMaybe<unknown> | undefined,
): KvEntryMaybe<unknown> {
  const keyCopy = copyOfKey(key);
  if (versionstamp === null) return { key: keyCopy, value: null, versionstamp };
  let value: unknown = null;
  if (stored) value = storedValue(stored);
  else if (stored === undefined && base !== undefined && base.versionstamp !== null) {
    value = base.value;
    if (!isU64(value)) throw new NotU64Error(steps[0]?.type ?? "sum", bytesOfId(id));
  }
  const [first] = steps;
  if (first === undefined) {
    const expireAt = stored?.expireAt;
    return { key: keyCopy, value, versionstamp, ...(expireAt !== undefined && { expireAt }) };
  }
  const U64Class = isU64(value) ? classOf(value) : KvU64;
  const number = steps.reduce(applyStep, isU64(value) ? value.value : startOf(first));
  return { key: keyCopy, value: new U64Class(number), versionstamp };
}

export function mutationCount({ stored, steps }: BufferedWrite): number {
  return (stored === undefined ? 0 : 1) + steps.length;
}

export function addToCommit(operation: AtomicOperation, write: BufferedWrite, now: Time): void {
  const { key, stored, steps } = write;
  if (stored === null) operation.delete(key);
  else if (stored !== undefined) operation.set(key, storedValue(stored), setOptionsOf(stored, now));
  for (const { type, operand } of steps) operation[type](key, operand);
}

/** Returns the number before the first step on an absent key. */
function startOf({ type, operand }: NumberStep): bigint {
  return type === "sum" ? 0n : operand;
}

function applyStep(number: bigint, { type, operand }: NumberStep): bigint {
  if (type === "sum") return BigInt.asUintN(64, number + operand);
  const isKept = type === "min" ? number <= operand : number >= operand;
  return isKept ? number : operand;
}

export function isU64Like(value: unknown): value is AnyU64 {
  return (
    typeof value === "object" &&
    value !== null &&
    "value" in value &&
    typeof value.value === "bigint"
  );
}

function isU64(value: unknown): value is AnyU64 {
  return isU64Like(value) && bufferedValue(value).u64Class !== undefined;
}

function classOf(value: AnyU64): new (value: bigint) => AnyU64 {
  return value.constructor as new (
    value: bigint,
  ) => AnyU64;
}
