import { compareBytes } from "../../bytes/compare-bytes.js";
import type { AtomicWrite, EngineLimits, StoredMutation } from "../../engine/engine.js";
import {
  consumerNameOf,
  isConsumerKey,
  isConsumerPositionKey,
} from "../../engine/log/consumer-keys.js";
import { firstEntryKey } from "../../engine/system-keys.js";
import {
  LimitExceededError,
  MalformedKeyError,
  MalformedValueError,
  UnreadableValueError,
} from "../../errors/core-errors.js";
import { decodeKey } from "../../keys/decode-key.js";
import { versionstampPartBytes } from "../../keys/encode-key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import { decodeForeignValue } from "../../values/decode-foreign-value.js";
import { assertVersionstamp } from "../../values/versionstamp.js";
import { decodeLease, decodePosition } from "../consume/consumer-records.js";
import { decodeHintKey, isHintKey } from "../expiry/expiry-hint.js";
import { isMessageKey, readyAtOf } from "../queue/message-key.js";
import { decodeQueuedMessage } from "../queue/queued-message.js";

/** Later than any time that a database stores: twice the last time of a `Date`. */
const endOfTime = 2 * 8.64e15;

/**
 * Checks a write of another process as a database of this process checks its own writes, so that
 * everything that is stored can be read.
 *
 * @throws {MalformedKeyError} if a key is not one that the database would write.
 * @throws {MalformedValueError} if a value or a message cannot be decoded.
 * @throws {LimitExceededError} if the write exceeds a limit of the engine.
 */
export function checkForeignWrite(
  { checks, mutations, context }: AtomicWrite,
  order: KeyOrder,
  limits: EngineLimits,
): void {
  let counted = 0;
  let bytes = context?.length ?? 0;
  if (context !== undefined) {
    assertWithin("valueBytes", limits.valueBytes, context.length);
    checkValue(context);
  }
  for (const mutation of mutations) {
    if (compareBytes(mutation.key, firstEntryKey) < 0) checkOwnMutation(mutation, order);
    else checkEntryMutation(mutation, order, limits);
    // An entry that expires counts once, and its hint does not count.
    if (isHintKey(mutation.key)) continue;
    counted++;
    bytes += mutation.key.length + (mutation.type === "set" ? mutation.value.length : 0);
  }
  assertWithin("mutations", limits.mutations, counted);
  assertWithin("totalMutationBytes", limits.totalMutationBytes, bytes);
  // In compat mode, a sum of numbers has a check of its own.
  const maxChecks = (limits.checks ?? Number.POSITIVE_INFINITY) + mutations.length;
  assertWithin("checks", maxChecks, checks.length);
}

function checkEntryMutation(mutation: StoredMutation, order: KeyOrder, limits: EngineLimits): void {
  const { key } = mutation;
  const endsInVersionstamp = mutation.type === "set" && mutation.endsInVersionstamp === true;
  // A key that another program has stored may be deleted.
  if (mutation.type !== "delete") decodeKey(key, order);
  assertWithin(
    "keyBytes",
    limits.keyBytes,
    key.length + (endsInVersionstamp ? versionstampPartBytes : 0),
  );
  if (mutation.type === "deleteExpired") {
    const { hint } = mutation;
    if (hint !== undefined && !isHintKey(hint.key)) throw notOfDatabase();
  }
  if (mutation.type !== "set") return;
  assertWithin("valueBytes", limits.valueBytes, mutation.value.length);
  assertTime(mutation.expireAt ?? 0);
  checkValue(mutation.value);
}

/** Checks a mutation of a hint of expiry, a message or a consumer. Any of them may be deleted. */
function checkOwnMutation(mutation: StoredMutation, order: KeyOrder): void {
  if (mutation.type === "delete") return;
  if (mutation.type !== "set") throw notOfDatabase();
  const { key, value, endsInVersionstamp } = mutation;
  if (isHintKey(key)) {
    if (value.length > 0) throw new MalformedValueError("a hint of expiry has no value");
    checkHint(key, order);
    return;
  }
  if (isConsumerKey(key) && endsInVersionstamp !== true) {
    checkConsumer(key, value);
    return;
  }
  if (!isMessageKey(key) || endsInVersionstamp === true) throw notOfDatabase();
  assertTime(readyAtOf(key));
  checkMessage(key, value, order);
}

function checkHint(key: Uint8Array, order: KeyOrder): void {
  let hint: { readonly dueAt: number; readonly key: Uint8Array };
  try {
    hint = decodeHintKey(key);
  } catch {
    throw notOfDatabase();
  }
  assertTime(hint.dueAt);
  decodeKey(hint.key, order);
}

function checkConsumer(key: Uint8Array, value: Uint8Array): void {
  try {
    consumerNameOf(key);
  } catch {
    throw notOfDatabase();
  }
  try {
    if (isConsumerPositionKey(key)) assertVersionstamp(decodePosition(value).position);
    else decodeLease(value);
  } catch (cause) {
    throw new MalformedValueError("its bytes are not those of a consumer", cause);
  }
}

function checkMessage(key: Uint8Array, value: Uint8Array, order: KeyOrder): void {
  let message: ReturnType<typeof decodeQueuedMessage>;
  try {
    message = decodeQueuedMessage({ key, value });
  } catch (cause) {
    throw new MalformedValueError("its bytes are not a message of the queue", cause);
  }
  checkValue(message.payload);
  for (const each of message.keysIfUndelivered) {
    if (each.length === 0) throw new MalformedKeyError("it has no parts", 0);
    decodeKey(each, order);
  }
}

function checkValue(value: Uint8Array): void {
  try {
    decodeForeignValue(value);
  } catch (error) {
    // A newer runtime in the other process can read it.
    if (!(error instanceof UnreadableValueError)) throw error;
  }
}

function assertTime(time: number): void {
  if (!(Number.isInteger(time) && time >= 0 && time <= endOfTime))
    throw new MalformedValueError("its time of expiry or delivery is not a time");
}

function assertWithin(limit: keyof EngineLimits, max: number | undefined, actual: number): void {
  if (max !== undefined && actual > max) throw new LimitExceededError(limit, max, actual);
}

function notOfDatabase(): MalformedKeyError {
  return new MalformedKeyError("the database has no such key of its own", 0);
}
