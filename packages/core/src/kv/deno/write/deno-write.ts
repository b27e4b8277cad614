import { textOfBytes } from "../../../bytes/text-of-bytes.js";
import type {
  AtomicWrite,
  MaybePromise,
  RangeCheck,
  StoredCheck,
  StoredEntry,
  StoredMutation,
  StoredSet,
} from "../../../engine/engine.js";
import {
  InvalidKeyError,
  InvalidOptionError,
  InvalidVersionstampError,
  NotU64Error,
} from "../../../errors/core-errors.js";
import type { KvKeyPart } from "../../../keys/key.js";
import { decodeValue } from "../../../values/decode-value.js";
import type { KvSetKey } from "../../atomic-operation.js";
import { expiryHint } from "../../expiry/expiry-hint.js";
import type { KvLimits } from "../../limits.js";
import { partsBeforeVersionstamp } from "../../write/commit-versionstamp.js";
import { assertByteString } from "../deno-argument.js";
import { denoError } from "../deno-error.js";
import { encodeKeyOf, takeKey } from "../deno-key.js";
import { assertMessageSize, assertWithinDeno } from "../deno-limits.js";
import { type DenoMessage, storedMessage, type TakenMessage, takeMessage } from "./deno-message.js";
import { applyNumberSums, type NumberSum } from "./deno-number-sums.js";
import { assertOwnMemory, type DenoValue, encodeDenoValue, sizeOfValue } from "./deno-value.js";

/** The last time of Deno: the end of the year 262142, in milliseconds since the epoch. */
const endOfTime = 8_210_266_876_799_999;
const maxU64 = 2n ** 64n - 1n;

/** A check as the caller passed it. The types of its key and versionstamp are not checked yet. */
export interface DenoCheck {
  readonly key: unknown;
  readonly versionstamp: unknown;
}

export type DenoMutation<Encoded = Uint8Array> =
  | {
      readonly type: "set";
      readonly key: KvSetKey;
      readonly value: DenoValue<Encoded>;
      readonly expireIn: number | undefined;
    }
  | { readonly type: "delete"; readonly key: KvSetKey }
  | {
      readonly type: "sum" | "min" | "max";
      readonly key: KvSetKey;
      readonly value: DenoValue<Encoded>;
    };

/** An atomic operation. `Encoded` is as in {@link DenoValue}. */
export interface DenoWrite<Encoded = Uint8Array> {
  readonly checks: readonly DenoCheck[];
  readonly mutations: readonly DenoMutation<Encoded>[];
  readonly messages: readonly DenoMessage<Encoded>[];
  /** An addition to Deno KV. */
  readonly rangeChecks?: readonly RangeCheck[];
  /** An addition to Deno KV: an encoded value for the log. */
  readonly context?: Uint8Array | undefined;
}

export interface DenoWriteContext {
  readonly limits: KvLimits;
  readonly sync: boolean;
  assertOpen(): void;
  read(key: Uint8Array): MaybePromise<StoredEntry | undefined>;
  commit(write: AtomicWrite): Promise<string | null>;
}

interface TakenCheck {
  readonly key: KvKeyPart[];
  readonly versionstamp: string | null;
}

/** A mutation whose key parts have the right types, without the versionstamp's placeholder. */
interface TakenMutation {
  readonly mutation: DenoMutation;
  readonly key: KvKeyPart[];
  readonly endsInVersionstamp: boolean;
}

interface EncodedMutation extends TakenMutation {
  readonly encodedKey: Uint8Array;
}

/**
 * Commits an atomic operation after Deno's checks in Deno's order (`op_kv_atomic_write` of
 * `ext/kv/lib.rs`): types, open database, counts, keys and versionstamps, sizes. Resolves to the
 * versionstamp, or to null if a check of the operation fails.
 */
export async function commitDenoWrite(
  context: DenoWriteContext,
  { checks, mutations, messages, rangeChecks = [], context: said }: DenoWrite,
): Promise<string | null> {
  const { limits, sync } = context;
  const now = Date.now();
  const versionstamped = mutations.map(({ type, key }) => beforeVersionstamp(type, key));
  const takenChecks = checks.map(takeCheck);
  const takenMutations = mutations.map((mutation, i) => takeMutation(mutation, versionstamped[i]));
  const takenMessages = messages.map(takeMessage);
  context.assertOpen();
  assertWithinDeno(limits, "checks", checks.length);
  assertWithinDeno(limits, "mutations", mutations.length + messages.length);
  const storedChecks = takenChecks.map(storedCheck);
  const encoded = takenMutations.map((taken) => encodeMutation(taken, now));
  const storedMessages = takenMessages.map((message) => storedMessage(message, now));
  assertSizes(limits, storedChecks, encoded, takenMessages);
  const commit = (mutations: readonly StoredMutation[], own: readonly StoredCheck[] = []) =>
    context.commit({
      ...{ checks: [...storedChecks, ...own], rangeChecks, mutations, sync },
      ...(said && { context: said }),
    });
  const wrong = encoded.find(hasWrongOperand);
  if (wrong !== undefined) {
    // If a check fails, the result is null even if an operand is invalid.
    if ((await commit([])) === null) return null;
    throw operandError(wrong);
  }
  const stored = [...encoded.flatMap((each) => storedMutations(each, now)), ...storedMessages];
  try {
    return await commitWithNumberSums(stored, context.read, commit);
  } catch (cause) {
    if (!(cause instanceof NotU64Error)) throw cause;
    const text = `Failed to perform '${cause.operation}' mutation on a non-U64 value in the database`;
    throw denoError(cause, text);
  }
}

/**
 * Commits mutations. Sums of numbers and bigints are computed before the commit, which therefore
 * also checks that their entries have not changed, and is made again if they have.
 *
 * @param commit commits mutations under the operation's own checks and the given ones.
 */
async function commitWithNumberSums(
  mutations: readonly (StoredMutation | NumberSum)[],
  read: DenoWriteContext["read"],
  commit: (
    mutations: readonly StoredMutation[],
    checks?: readonly StoredCheck[],
  ) => Promise<string | null>,
): Promise<string | null> {
  const summed = mutations.filter((mutation) => mutation.type === "sumNumber");
  if (summed.length === 0) return commit(mutations as readonly StoredMutation[]);
  for (;;) {
    const entries = new Map<string, StoredEntry | undefined>();
    for (const { key } of summed) entries.set(textOfBytes(key), await read(key));
    const unchanged = summed.map(({ key }) => {
      const versionstamp = entries.get(textOfBytes(key))?.versionstamp ?? null;
      return { key, versionstamp };
    });
    let error: unknown;
    let applied: readonly StoredMutation[] = [];
    try {
      applied = applyNumberSums(mutations, entries);
    } catch (cause) {
      error = cause;
    }
    const versionstamp = await commit(applied, unchanged);
    if (versionstamp !== null && error !== undefined) throw error;
    if (versionstamp !== null) return versionstamp;
    // A check of the operation has failed, or an entry has changed.
    if ((await commit([])) === null) return null;
  }
}

/** Returns the key parts before the placeholder for the versionstamp, which only a `set` has. */
function beforeVersionstamp(type: DenoMutation["type"], key: KvSetKey): unknown[] | undefined {
  // Deno reads `length` first, so that null and undefined throw the error of the JavaScript engine.
  if (key.length === 0 || type !== "set") return undefined;
  return partsBeforeVersionstamp(key) as unknown[] | undefined;
}

function takeCheck(check: DenoCheck): TakenCheck {
  const key = takeKey(check.key);
  const versionstamp = check.versionstamp ?? null;
  if (versionstamp === null) return { key, versionstamp };
  assertByteString(new InvalidVersionstampError(versionstamp), versionstamp);
  return { key, versionstamp };
}

function takeMutation(mutation: DenoMutation, before: unknown[] | undefined): TakenMutation {
  const key = takeKey(before ?? mutation.key);
  if (mutation.type !== "delete") assertOwnMemory(mutation.value);
  return { mutation, key, endsInVersionstamp: before !== undefined };
}

function storedCheck({ key, versionstamp }: TakenCheck): StoredCheck {
  if (versionstamp !== null && !/^[0-9a-fA-F]{20}$/.test(versionstamp))
    throw denoError(new InvalidVersionstampError(versionstamp), "Invalid check");
  const encoded = encodeKeyOf(key, () => "Invalid check");
  return { key: encoded, versionstamp: versionstamp?.toLowerCase() ?? null };
}

function encodeMutation(taken: TakenMutation, now: number): EncodedMutation {
  const encodedKey = encodeKeyOf(taken.key, (text) => `Invalid mutation: ${text}`);
  if (taken.mutation.type === "set") assertExpiry(taken.mutation.expireIn, now);
  return { ...taken, encodedKey };
}

function assertExpiry(expireIn: number | undefined, now: number): void {
  if (expireIn === undefined || now + expireIn <= endOfTime) return;
  const asU64 = BigInt(expireIn) > maxU64 ? maxU64 : BigInt(expireIn);
  const text = `Invalid mutation: expireIn is too large: ${asU64}`;
  throw denoError(new InvalidOptionError("expireIn", "is too large", "set"), text);
}

/**
 * Checks sizes in Deno's order. The key of a mutation that stores a value counts twice toward
 * `totalMutationBytes`: by itself and with the value.
 */
function assertSizes(
  limits: KvLimits,
  checks: readonly StoredCheck[],
  mutations: readonly EncodedMutation[],
  messages: readonly TakenMessage[],
): void {
  let total = 0;
  let keys = 0;
  const allKeys = [...checks.map(({ key }) => key), ...mutations.map((each) => each.encodedKey)];
  for (const key of allKeys) {
    if (key.length === 0)
      throw denoError(new InvalidKeyError("it has no parts"), "key cannot be empty");
    assertWithinDeno(limits, "keyBytes", key.length);
    total += key.length;
  }
  for (const { mutation, encodedKey } of mutations) {
    if (mutation.type === "delete") continue;
    const size = sizeOfValue(mutation.value);
    if (mutation.value.kind !== "u64") assertWithinDeno(limits, "valueBytes", size);
    total += size + encodedKey.length;
    keys += encodedKey.length;
  }
  for (const { payload, backoffSchedule } of messages) {
    assertMessageSize(limits, payload.length);
    total += payload.length + 4 * (backoffSchedule?.length ?? 0);
  }
  assertWithinDeno(limits, "totalMutationBytes", total);
  assertWithinDeno(limits, "totalKeyBytes", keys);
}

interface WrongOperand extends EncodedMutation {
  readonly mutation: Extract<DenoMutation, { type: "sum" | "min" | "max" }>;
}

/** True for a `sum`, `min` or `max` whose operand is of no type that can be combined. */
function hasWrongOperand(encoded: EncodedMutation): encoded is WrongOperand {
  const { mutation } = encoded;
  if (mutation.type === "set" || mutation.type === "delete") return false;
  return mutation.value.kind !== "u64" && !(mutation.type === "sum" && isNumber(mutation.value));
}

function isNumber(value: DenoValue): value is Extract<DenoValue, { kind: "clone" }> {
  return value.kind === "clone" && (value.type === "number" || value.type === "bigint");
}

function operandError({ mutation: { type }, encodedKey }: WrongOperand): Error {
  const text =
    type === "sum"
      ? "Some of the parameters are not valid V8 values"
      : `Failed to perform '${type}' mutation on a non-U64 operand`;
  return denoError(new NotU64Error(type, encodedKey, "operand"), text);
}

function storedMutations(encoded: EncodedMutation, now: number): (StoredMutation | NumberSum)[] {
  const { mutation, encodedKey: key, endsInVersionstamp } = encoded;
  if (mutation.type === "delete") return [{ type: "delete", key }];
  if (mutation.type !== "set") {
    const { type, value } = mutation;
    if (value.kind === "u64") return [{ type, key, operand: value.value }];
    const operand = decodeValue(encodeDenoValue(value)) as number | bigint;
    return [{ type: "sumNumber", key, operand }];
  }
  const { expireIn } = mutation;
  const set: StoredSet = {
    type: "set",
    key,
    value: encodeDenoValue(mutation.value),
    ...(endsInVersionstamp ? { endsInVersionstamp } : {}),
    ...(expireIn === undefined ? {} : { expireAt: now + expireIn }),
  };
  return expireIn === undefined ? [set] : [expiryHint(set, now), set];
}
