import type { StoredSet } from "../../engine/engine.js";
import { InvalidOptionError } from "../../errors/core-errors.js";
import type { KvKeyPart } from "../../keys/key.js";
import { bigintOfU64 } from "../../values/kv-u64.js";
import type { KvEnqueueOptions } from "../kv.js";
import { messageKey, newMessageId } from "../queue/message-key.js";
import { encodeQueuedMessage } from "../queue/queued-message.js";
import { takeInteger, wrongType } from "./deno-argument.js";
import { denoError } from "./deno-error.js";
import { encodeKeyOf, takeKey } from "./deno-key.js";
import { encodeClone } from "./deno-value.js";

/**
 * Deno's limits and its default schedule, with times in milliseconds (`ext/kv/01_db.ts`, and
 * `sqlite/backend.rs` of denokv).
 */
const maxDelay = 30 * 24 * 60 * 60 * 1000;
const maxInterval = 60 * 60 * 1000;
const maxIntervals = 5;
const delayReason = `must be a number of milliseconds from 0 to ${maxDelay} (30 days)`;
const defaultSchedule: readonly number[] = [100, 1000, 5000, 30_000, 60_000];

/** A message as an atomic operation holds it. The types of its options are not checked yet. */
export interface DenoMessage {
  readonly payload: Uint8Array;
  readonly delay: unknown;
  readonly keysIfUndelivered: unknown;
  readonly backoffSchedule: unknown;
}

/** A message whose options have the right types. */
export interface TakenMessage {
  readonly payload: Uint8Array;
  readonly delay: number;
  readonly keysIfUndelivered: readonly KvKeyPart[][];
  readonly backoffSchedule: readonly number[] | undefined;
}

/** @throws {TypeError} if an option is out of bounds, or if the message cannot be cloned. */
export function denoMessage(value: unknown, options?: KvEnqueueOptions): DenoMessage {
  const delay = options?.delay;
  const schedule = options?.backoffSchedule;
  if (delay !== undefined) assertDelay(delay);
  if (schedule !== undefined) assertSchedule(schedule);
  const number = bigintOfU64(value);
  return {
    // A KvU64 is special only as the value of a mutation. In a message it is an ordinary object.
    payload: encodeClone(number === undefined ? value : { value: number }),
    delay: delay ?? 0,
    keysIfUndelivered: options?.keysIfUndelivered ?? [],
    backoffSchedule: schedule ?? undefined,
  };
}

/** @throws {TypeError} if an option has the wrong type. */
export function takeMessage(message: DenoMessage): TakenMessage {
  const delay = takeInteger("delay", message.delay);
  const keysIfUndelivered = takeArray("keysIfUndelivered", message.keysIfUndelivered).map(takeKey);
  const schedule = message.backoffSchedule;
  const intervals = schedule === undefined ? undefined : takeArray("backoffSchedule", schedule);
  const backoffSchedule = intervals?.map((interval, i) =>
    takeInteger(`backoffSchedule[${i}]`, interval),
  );
  return { payload: message.payload, delay, keysIfUndelivered, backoffSchedule };
}

/** Returns the mutation that enqueues a message. `now` is in milliseconds since the epoch. */
export function storedMessage(message: TakenMessage, now: number): StoredSet {
  const { payload, delay, backoffSchedule = defaultSchedule } = message;
  const value = encodeQueuedMessage({
    payload,
    backoffSchedule,
    // Deno accepts an empty key here, but no read can find a message that is stored under it.
    keysIfUndelivered: message.keysIfUndelivered
      .map((key) => encodeKeyOf(key, () => "Invalid enqueue"))
      .filter((key) => key.length > 0),
    failures: 0,
    isInDelivery: false,
  });
  return { type: "set", key: messageKey(now + delay, newMessageId()), value };
}

/** Compares as Deno does. A string of digits passes here and is refused at the commit. */
function assertDelay(delay: number): void {
  if (delay < 0) throw invalid("delay", delayReason, `Delay must be >= 0: received ${delay}`);
  if (delay > maxDelay) {
    const text = `Delay cannot be greater than 30 days: received ${delay}`;
    throw invalid("delay", delayReason, text);
  }
  if (Number.isNaN(delay)) throw invalid("delay", delayReason, "Delay cannot be NaN");
}

function assertSchedule(schedule: readonly number[]): void {
  if (schedule.length > maxIntervals) {
    throw invalid(
      "backoffSchedule",
      `must have at most ${maxIntervals} intervals`,
      `Invalid backoffSchedule, max ${maxIntervals} intervals allowed`,
    );
  }
  for (let i = 0; i < schedule.length; i++) {
    const interval = schedule[i]!;
    if (interval < 0 || interval > maxInterval || Number.isNaN(interval)) {
      throw invalid(
        `backoffSchedule[${i}]`,
        `must be a number of milliseconds from 0 to ${maxInterval} (an hour)`,
        `Invalid backoffSchedule, interval at index ${i} is invalid`,
      );
    }
  }
}

function takeArray(option: string, value: unknown): unknown[] {
  const own = new InvalidOptionError(option, "must be an array", "enqueue");
  if (!Array.isArray(value)) throw wrongType(own, "array", value);
  return [...value];
}

function invalid(option: string, reason: string, text: string): Error {
  return denoError(new InvalidOptionError(option, reason, "enqueue"), text);
}
