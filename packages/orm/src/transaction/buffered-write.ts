import {
  type AtomicOperation,
  decodeValue,
  encodeValue,
  type KvEntryMaybe,
  type KvKey,
  KvU64,
  NotU64Error,
} from "@keywright/core";
import { bytesOfId, copyOfKey, type KeyId } from "./key-id.js";
import { type SetUntilOptions, setUntil } from "./set-until.js";

/** A 64-bit unsigned integer of whichever implementation: each database has a class of its own. */
export interface AnyU64 {
  readonly value: bigint;
}

/** A value as it was handed over. */
export interface BufferedValue {
  readonly bytes: Uint8Array;
  /** Only of a 64-bit unsigned integer: the class that it came in. */
  readonly u64Class: (new (value: bigint) => AnyU64) | undefined;
  /** How long it stays, in milliseconds from the commit on; undefined where that is not how its end is given. */
  readonly expireIn: number | undefined;
  /** When it goes: milliseconds since the epoch. With `expireIn`, when it would, had it been committed at once. */
  readonly expireAt: number | undefined;
}

/** A `sum`, `min` or `max`. */
export interface NumberStep {
  readonly type: "sum" | "min" | "max";
  readonly operand: bigint;
}

/** What a transaction has done to a key and not committed yet. */
export interface BufferedWrite {
  readonly key: KvKey;
  /** What takes the place of the database's value: null where that is deleted, undefined where it is still the base. */
  readonly stored: BufferedValue | null | undefined;
  /** What is then done to it, in order. */
  readonly steps: readonly NumberStep[];
  /** Null where the key is absent now. */
  readonly versionstamp: string | null;
}

/**
 * Takes a value over.
 *
 * @throws {UnsupportedValueError} for a value that cannot be stored.
 */
export function bufferedValue(value: unknown, options: SetUntilOptions = {}): BufferedValue {
  const bytes = encodeValue(value);
  const isU64 = isU64Like(value) && decodeValue(bytes) instanceof KvU64;
  const u64Class = isU64 ? (value.constructor as BufferedValue["u64Class"]) : undefined;
  const { expireIn, expireAt } = options;
  if (expireAt !== undefined || expireIn === undefined) {
    return { bytes, u64Class, expireIn: undefined, expireAt };
  }
  return { bytes, u64Class, expireIn, expireAt: Date.now() + Math.ceil(expireIn) };
}

/** The options of the `set` that commits a value at a time. */
export function setOptionsOf({ expireIn, expireAt }: BufferedValue, now: number): SetUntilOptions {
  if (expireIn !== undefined) return { expireIn };
  return expireAt === undefined ? {} : setUntil(expireAt, now);
}

/** A copy of the value that was taken over. */
export function storedValue({ bytes, u64Class }: BufferedValue): unknown {
  const value = decodeValue(bytes);
  return u64Class !== undefined && value instanceof KvU64 ? new u64Class(value.value) : value;
}

/**
 * A key's write with one more `sum`, `min` or `max`.
 *
 * @throws {NotU64Error} where the transaction has set another value.
 */
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
    steps[steps.length - 1] = { type: step.type, operand: stepped(last.operand, step) };
  } else {
    steps.push(step);
  }
  return { key, stored, steps, versionstamp };
}

/**
 * The entry as the transaction sees it.
 *
 * @param base the database's entry; it counts only where `stored` is undefined.
 * @throws {NotU64Error} where a `sum`, `min` or `max` meets another value.
 */
export function entryOf(
  { key, stored, steps, versionstamp }: BufferedWrite,
  id: KeyId,
  base: KvEntryMaybe<unknown> | undefined,
): KvEntryMaybe<unknown> {
  const ownKey = copyOfKey(key);
  if (versionstamp === null) return { key: ownKey, value: null, versionstamp };
  let value: unknown = null;
  if (stored) value = storedValue(stored);
  else if (stored === undefined && base !== undefined && base.versionstamp !== null) {
    value = base.value;
    if (!isU64(value)) throw new NotU64Error(steps[0]?.type ?? "sum", bytesOfId(id));
  }
  const [first] = steps;
  if (first === undefined) {
    const expireAt = stored?.expireAt;
    return { key: ownKey, value, versionstamp, ...(expireAt !== undefined && { expireAt }) };
  }
  const U64Class = isU64(value) ? classOf(value) : KvU64;
  const number = steps.reduce(stepped, isU64(value) ? value.value : startOf(first));
  return { key: ownKey, value: new U64Class(number), versionstamp };
}

/** How many mutations of a commit it takes. */
export function mutationCount({ stored, steps }: BufferedWrite): number {
  return (stored === undefined ? 0 : 1) + steps.length;
}

/** Adds it to the commit that is made `now`. */
export function addToCommit(operation: AtomicOperation, write: BufferedWrite, now: number): void {
  const { key, stored, steps } = write;
  if (stored === null) operation.delete(key);
  else if (stored !== undefined) operation.set(key, storedValue(stored), setOptionsOf(stored, now));
  for (const { type, operand } of steps) operation[type](key, operand);
}

/** What a number is before its first step where nothing is stored: 0 to add to, or the operand to compare with. */
function startOf({ type, operand }: NumberStep): bigint {
  return type === "sum" ? 0n : operand;
}

function stepped(number: bigint, { type, operand }: NumberStep): bigint {
  if (type === "sum") return BigInt.asUintN(64, number + operand);
  const isKept = type === "min" ? number <= operand : number >= operand;
  return isKept ? number : operand;
}

function isU64Like(value: unknown): value is AnyU64 {
  return (
    typeof value === "object" &&
    value !== null &&
    "value" in value &&
    typeof value.value === "bigint"
  );
}

/** Of any implementation: what core would store as such. */
function isU64(value: unknown): value is AnyU64 {
  return isU64Like(value) && bufferedValue(value).u64Class !== undefined;
}

function classOf(value: AnyU64): new (value: bigint) => AnyU64 {
  return value.constructor as new (
    value: bigint,
  ) => AnyU64;
}
