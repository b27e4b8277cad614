import type { StoredSet } from "../../../engine/engine.js";
import { InvalidOptionError } from "../../../errors/core-errors.js";
import type { KvKeyPart } from "../../../keys/key.js";
import { bigintOfU64 } from "../../../values/kv-u64.js";
import type { KvEnqueueOptions } from "../../atomic-operation.js";
import {
  defaultBackoffSchedule,
  delayReason,
  enqueueMutation,
  intervalReason,
  maxDelay,
  maxInterval,
  maxIntervals,
} from "../../queue/enqueue-mutation.js";
import { encodeQueuedMessage } from "../../queue/queued-message.js";
import { takeInteger, wrongType } from "../deno-argument.js";
import { denoError } from "../deno-error.js";
import { encodeKeyOf, takeKey } from "../deno-key.js";
import { type DenoValue, type EncodedClone, encodeClone } from "./deno-value.js";

/** A message as an atomic operation holds it. The types of its options are not checked yet. */
export interface DenoMessage<Encoded = Uint8Array> {
  readonly payload: Encoded;
  /** The message itself if it has a `Blob`, as in {@link DenoValue}. */
  readonly original: unknown;
  readonly delay: unknown;
  readonly keysIfUndelivered: unknown;
  readonly backoffSchedule: unknown;
}

export interface TakenMessage {
  readonly payload: Uint8Array;
  readonly delay: number;
  readonly keysIfUndelivered: readonly KvKeyPart[][];
  readonly backoffSchedule: readonly number[] | undefined;
}

/** @throws {TypeError} if an option is out of bounds, or if the message cannot be cloned. */
export function denoMessage(value: unknown, options?: KvEnqueueOptions): DenoMessage<EncodedClone> {
  const delay = options?.delay;
  const schedule = options?.backoffSchedule;
  if (delay !== undefined) assertDelay(delay);
  if (schedule !== undefined) assertSchedule(schedule);
  const number = bigintOfU64(value);
  // A KvU64 is special only as the value of a mutation. In a message it is an ordinary object.
  const payload = encodeClone(number === undefined ? value : { value: number });
  return {
    payload,
    original: payload instanceof Promise ? value : undefined,
    delay: delay ?? 0,
    keysIfUndelivered: options?.keysIfUndelivered ?? [],
    backoffSchedule: schedule ?? undefined,
  };
}

export function takeMessage(message: DenoMessage): TakenMessage {
  const { payload, backoffSchedule: schedule } = message;
  const delay = takeInteger("delay", message.delay);
  const keysIfUndelivered = takeArray("keysIfUndelivered", message.keysIfUndelivered).map(takeKey);
  const intervals = schedule === undefined ? undefined : takeArray("backoffSchedule", schedule);
  const backoffSchedule = intervals?.map((each, i) => takeInteger(`backoffSchedule[${i}]`, each));
  return { payload, delay, keysIfUndelivered, backoffSchedule };
}

export function storedMessage(message: TakenMessage, now: number): StoredSet {
  const { payload, delay, backoffSchedule = defaultBackoffSchedule } = message;
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
  return enqueueMutation({ value, delay }, now);
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
    const text = `Invalid backoffSchedule, max ${maxIntervals} intervals allowed`;
    throw invalid("backoffSchedule", `must have at most ${maxIntervals} intervals`, text);
  }
  for (let i = 0; i < schedule.length; i++) {
    const interval = schedule[i]!;
    if (interval < 0 || interval > maxInterval || Number.isNaN(interval)) {
      const text = `Invalid backoffSchedule, interval at index ${i} is invalid`;
      throw invalid(`backoffSchedule[${i}]`, intervalReason, text);
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
