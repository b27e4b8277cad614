import type { StoredMutation } from "../../engine/engine.js";
import { messageIdOf, messageKey, readyAtOf } from "./message-key.js";
import { encodeQueuedMessage, type QueuedMessage } from "./queued-message.js";

/** A message and the key under which it is stored. */
export interface StoredMessage extends QueuedMessage {
  readonly key: Uint8Array;
}

/** If this process ends before it stores the result, the delivery has failed. */
export function beginDelivery(message: StoredMessage): StoredMutation[] {
  return [storeAgain(message, true)];
}

/** Takes a delivery back, as if it had not begun. */
export function withdrawDelivery(message: StoredMessage): StoredMutation[] {
  return [storeAgain(message, false)];
}

export function completeDelivery({ key }: StoredMessage): StoredMutation[] {
  return [{ type: "delete", key }];
}

/**
 * Returns the mutations after a failed delivery. The message is stored again, due after the next
 * interval of its schedule, counted from `now`. If no interval is left, the message leaves the
 * queue, and its value is stored under each of its `keysIfUndelivered`.
 */
export function failDelivery(message: StoredMessage, now: number): StoredMutation[] {
  const { key, payload, backoffSchedule, failures, keysIfUndelivered } = message;
  const removal: StoredMutation = { type: "delete", key };
  const interval = backoffSchedule[failures];
  if (interval === undefined) {
    const values = keysIfUndelivered.map(
      (name): StoredMutation => ({ type: "set", key: name, value: payload }),
    );
    return [removal, ...values];
  }
  const retry: StoredMutation = {
    type: "set",
    // Never the previous key, because the queue may still count that key as in flight.
    key: messageKey(Math.max(now + interval, readyAtOf(key) + 1), messageIdOf(key)),
    value: encodeQueuedMessage({ ...message, failures: failures + 1, isInDelivery: false }),
  };
  return [removal, retry];
}

function storeAgain(message: StoredMessage, isInDelivery: boolean): StoredMutation {
  const value = encodeQueuedMessage({ ...message, isInDelivery });
  return { type: "set", key: message.key, value };
}
