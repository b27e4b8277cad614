import type { StoredSet } from "../../engine/engine.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { encodeEntryKey } from "../../keys/encode-key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import { encodeValue } from "../../values/encode-value.js";
import type { KvEnqueueOptions } from "../atomic-operation.js";
import { messageKey, newMessageId } from "./message-key.js";
import { encodeQueuedMessage } from "./queued-message.js";

/**
 * Deno KV's limits and defaults, in milliseconds (`ext/kv/01_db.ts` of denoland/deno,
 * `sqlite/backend.rs` of denokv).
 */
export const maxDelay: number = 30 * 24 * 60 * 60 * 1000;
export const maxInterval: number = 60 * 60 * 1000;
export const maxIntervals = 5;
export const defaultBackoffSchedule: readonly number[] = [100, 1000, 5000, 30_000, 60_000];
export const delayReason: string = `must be a number of milliseconds from 0 to ${maxDelay} (30 days)`;
export const intervalReason: string = `must be a number of milliseconds from 0 to ${maxInterval} (an hour)`;

export interface MessageDraft {
  readonly value: Uint8Array;
  /** Milliseconds from the commit to the first delivery. */
  readonly delay: number;
  /** Bytes of the encoded value that was enqueued. */
  readonly payloadBytes: number;
  readonly keysIfUndelivered: readonly Uint8Array[];
}

/**
 * Returns the mutation that puts a message in the queue. It stores the message under a key of the
 * queue (`docs/internals/queue.md`), due at `now` plus its delay. Each call makes another message.
 *
 * @param now milliseconds since the epoch.
 */
export function enqueueMutation(
  { value, delay }: Pick<MessageDraft, "value" | "delay">,
  now: number,
): StoredSet {
  return { type: "set", key: messageKey(now + Math.ceil(delay), newMessageId()), value };
}

/**
 * Checks and encodes a message with its options.
 *
 * @throws {InvalidOptionError} if an option is not valid.
 * @throws {InvalidKeyError} if one of `keysIfUndelivered` is not a valid key.
 * @throws {UnsupportedValueError} if the message cannot be stored.
 */
export function draftMessage(
  value: unknown,
  options: KvEnqueueOptions | undefined,
  order: KeyOrder,
): MessageDraft {
  const delay = options?.delay ?? 0;
  const backoffSchedule = options?.backoffSchedule ?? defaultBackoffSchedule;
  const keysIfUndelivered = options?.keysIfUndelivered ?? [];
  assertDelay(delay);
  assertBackoffSchedule(backoffSchedule);
  if (!Array.isArray(keysIfUndelivered)) {
    throw new InvalidOptionError("keysIfUndelivered", "must be an array of keys", "enqueue");
  }
  const payload = encodeValue(value);
  const keys = keysIfUndelivered.map((key) => encodeEntryKey(key, order));
  const message = encodeQueuedMessage({
    payload,
    // Deno KV accepts fractions. They are rounded up, so that no delivery is too early.
    backoffSchedule: backoffSchedule.map(Math.ceil),
    keysIfUndelivered: keys,
    failures: 0,
    isInDelivery: false,
  });
  return { value: message, delay, payloadBytes: payload.length, keysIfUndelivered: keys };
}

function assertDelay(delay: number): void {
  if (!isBetween(delay, 0, maxDelay)) {
    throw new InvalidOptionError("delay", delayReason, "enqueue");
  }
}

function assertBackoffSchedule(schedule: readonly number[]): void {
  if (!Array.isArray(schedule) || schedule.length > maxIntervals) {
    const reason = `must be an array of at most ${maxIntervals} intervals`;
    throw new InvalidOptionError("backoffSchedule", reason, "enqueue");
  }
  for (let index = 0; index < schedule.length; index++) {
    if (!isBetween(schedule[index], 0, maxInterval)) {
      throw new InvalidOptionError(`backoffSchedule[${index}]`, intervalReason, "enqueue");
    }
  }
}

/** True if `value` is a number within both bounds, inclusive. False for NaN. */
function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}
