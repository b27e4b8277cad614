import type { StoredSet } from "../../engine/engine.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import { encodeEntryKey } from "../../keys/encode-key.js";
import type { KeyOrder } from "../../keys/key-order.js";
import { encodeValue } from "../../values/encode-value.js";
import type { KvEnqueueOptions } from "../kv.js";
import { messageKey, newMessageId } from "./message-key.js";
import { encodeQueuedMessage } from "./queued-message.js";

/** Deno KV's limits and defaults, in milliseconds (`ext/kv/01_db.ts` of denoland/deno, `sqlite/backend.rs` of denokv). */
const maxDelay = 30 * 24 * 60 * 60 * 1000;
const maxInterval = 60 * 60 * 1000;
const maxIntervals = 5;
const defaultBackoffSchedule: readonly number[] = [100, 1000, 5000, 30_000, 60_000];

/** A message that is to be put in the queue. */
export interface MessageDraft {
  /** The message as it is stored. */
  readonly value: Uint8Array;
  /** Milliseconds from its commit on. */
  readonly delay: number;
  /** Bytes of the encoded value that was enqueued. */
  readonly payloadBytes: number;
  /** Encoded. */
  readonly keysIfUndelivered: readonly Uint8Array[];
}

/**
 * What puts a message in the queue: it is stored under a key of the queue's own (`docs/internals/queue.md`), due from
 * `now`, or its delay later, on. Each call makes another message.
 *
 * @param now milliseconds since the epoch.
 */
export function enqueueMutation({ value, delay }: MessageDraft, now: number): StoredSet {
  return { type: "set", key: messageKey(now + Math.ceil(delay), newMessageId()), value };
}

/**
 * Takes a message over, with its options.
 *
 * @throws {InvalidOptionError} for an option that is not valid.
 * @throws {InvalidKeyError} for one of `keysIfUndelivered` that is no key.
 * @throws {UnsupportedValueError} for a message that cannot be stored.
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
    throw new InvalidOptionError("keysIfUndelivered", "it is an array of keys");
  }
  const payload = encodeValue(value);
  const keys = keysIfUndelivered.map((key) => encodeEntryKey(key, order));
  const message = encodeQueuedMessage({
    payload,
    // Deno KV takes fractions too. Rounded up: never sooner than asked for.
    backoffSchedule: backoffSchedule.map(Math.ceil),
    keysIfUndelivered: keys,
    failures: 0,
    isInDelivery: false,
  });
  return { value: message, delay, payloadBytes: payload.length, keysIfUndelivered: keys };
}

function assertDelay(delay: number): void {
  if (!isBetween(delay, 0, maxDelay)) {
    throw new InvalidOptionError("delay", "it is a number of milliseconds from 0 to 30 days");
  }
}

function assertBackoffSchedule(schedule: readonly number[]): void {
  if (!Array.isArray(schedule) || schedule.length > maxIntervals) {
    throw new InvalidOptionError(
      "backoffSchedule",
      `it is an array of at most ${maxIntervals} intervals`,
    );
  }
  for (let index = 0; index < schedule.length; index++) {
    if (!isBetween(schedule[index], 0, maxInterval)) {
      throw new InvalidOptionError(
        `backoffSchedule[${index}]`,
        "an interval is a number of milliseconds from 0 to an hour",
      );
    }
  }
}

/** Also false for NaN and for what is no number. */
function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}
