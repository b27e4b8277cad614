import type { StoredMutation } from "../../engine/engine.js";
import { messageIdOf, messageKey, readyAtOf } from "./message-key.js";
import { encodeQueuedMessage, type QueuedMessage } from "./queued-message.js";

/** A message and the key under which it is stored. */
export interface StoredMessage extends QueuedMessage {
  readonly key: Uint8Array;
}

/** A delivery begins: from now on, where this process does not live to say how it ended, it has failed. */
export function beginDelivery(message: StoredMessage): StoredMutation[] {
  return [storeAgain(message, true)];
}

/** A delivery is taken back, as if it had not begun. */
export function withdrawDelivery(message: StoredMessage): StoredMutation[] {
  return [storeAgain(message, false)];
}

/** A handler has taken the message. */
export function completeDelivery({ key }: StoredMessage): StoredMutation[] {
  return [{ type: "delete", key }];
}

/**
 * A delivery has failed: the message comes again after the next interval of its schedule, counted from `now`. Where
 * there is none it leaves the queue, and its value is stored under the keys that it names for that.
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
    // Never the key that it had: the queue may still think that it is with a handler.
    key: messageKey(Math.max(now + interval, readyAtOf(key) + 1), messageIdOf(key)),
    value: encodeQueuedMessage({ ...message, failures: failures + 1, isInDelivery: false }),
  };
  return [removal, retry];
}

function storeAgain(message: StoredMessage, isInDelivery: boolean): StoredMutation {
  const value = encodeQueuedMessage({ ...message, isInDelivery });
  return { type: "set", key: message.key, value };
}
