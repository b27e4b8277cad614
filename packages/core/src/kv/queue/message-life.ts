import type { StoredMutation, StoredSet } from "../../engine/engine.js";
import { messageIdOf, messageKey, readyAtOf } from "./message-key.js";
import { encodeQueuedMessage, type QueuedMessage } from "./queued-message.js";

/** A message, and the key and the versionstamp with which it is stored. */
export interface StoredMessage extends QueuedMessage {
  readonly key: Uint8Array;
  readonly versionstamp: string;
}

/** If this process ends before it stores the result, the delivery has failed. */
export function beginDelivery(message: StoredMessage): StoredMutation[] {
  return [storeAgain(message, true)];
}

/** Takes a delivery back, as if it had not begun. */
export function withdrawDelivery(message: StoredMessage): StoredMutation[] {
  return [storeAgain(message, false)];
}

/**
 * Moves a message to another time of readiness. In a shared database a message in delivery is
 * stored as ready at the end of the lease of its process, so that no other process delivers it
 * before.
 *
 * @param readyAt milliseconds since the epoch.
 */
export function moveMessage(
  message: StoredMessage,
  readyAt: number,
  isInDelivery: boolean,
): [removal: StoredMutation, moved: StoredSet] {
  const key = messageKey(readyAt, messageIdOf(message.key));
  return [{ type: "delete", key: message.key }, storeAgain({ ...message, key }, isInDelivery)];
}

export function completeDelivery({ key }: StoredMessage): StoredMutation[] {
  return [{ type: "delete", key }];
}

/**
 * Returns the mutations after a failed delivery. The message is stored again, due after the next
 * interval of its schedule, counted from `now`. If no interval is left, the message leaves the
 * queue, and its value is stored under each of its `keysIfUndelivered`.
 *
 * @param isLeased true if the message is stored as ready at the end of a lease.
 */
export function failDelivery(
  message: StoredMessage,
  now: number,
  isLeased: boolean,
): StoredMutation[] {
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
    key: messageKey(
      isLeased ? now + interval : Math.max(now + interval, readyAtOf(key) + 1),
      messageIdOf(key),
    ),
    value: encodeQueuedMessage({ ...message, failures: failures + 1, isInDelivery: false }),
  };
  return [removal, retry];
}

function storeAgain(message: StoredMessage, isInDelivery: boolean): StoredSet {
  const value = encodeQueuedMessage({ ...message, isInDelivery });
  return { type: "set", key: message.key, value };
}
