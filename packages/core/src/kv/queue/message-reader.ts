import { compareBytes } from "../../bytes/compare-bytes.js";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { Engine, StoredEntry } from "../../engine/engine.js";
import { isRangeEnd } from "../../engine/range-end.js";
import { keyAfter } from "../../keys/key-range.js";
import { decodeStoredValue } from "../stored-entry.js";
import { messageKeys, readyAtOf } from "./message-key.js";
import type { StoredMessage } from "./message-life.js";
import { decodeQueuedMessage } from "./queued-message.js";
import { readAroundDamage } from "./read-around-damage.js";
import { reportError } from "./report-error.js";

/** A message with the value that a handler gets. */
export interface ReadyMessage extends StoredMessage {
  readonly value: unknown;
}

/** What is to be done with the first messages of the queue. */
export interface MessageBatch {
  /** To be delivered now. */
  readonly ready: readonly ReadyMessage[];
  /** Due messages whose last delivery ended with the process that had begun it. */
  readonly lost: readonly StoredMessage[];
  /** There may be more that are due. */
  readonly hasMore: boolean;
  /** When the first message is due that is not due yet, in milliseconds since the epoch, where the batch reaches to it. */
  readonly nextReadyAt: number | undefined;
}

/** Reads the messages of the queue that wait, in the order in which they are due. */
export class MessageReader {
  readonly #engine: Engine;
  /**
   * No message before this key waits. Reading from the queue's beginning would pass over what LevelDB still keeps of all
   * the messages that have been removed there.
   */
  #start: Uint8Array = messageKeys.start;
  /** Messages that cannot be read and have been reported, by the texts of their keys. */
  readonly #reported = new Set<string>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** A message waits under this key, or behind it. */
  expect(key: Uint8Array): void {
    if (compareBytes(key, this.#start) < 0) this.#start = key;
  }

  /**
   * Reads a batch. The next one begins behind its messages: those that are to be read again are to be expected.
   *
   * @param inFlight the messages that handlers have, by the texts of their keys.
   * @param limit messages at the most.
   * @throws {CorruptionError} for damage of which the engine does not tell the key.
   */
  async read(inFlight: ReadonlyMap<string, StoredMessage>, limit: number): Promise<MessageBatch> {
    const start = this.#start;
    // Messages that come while this is read move it back.
    this.#start = messageKeys.end;
    // A message whose delivery ends meanwhile may stand in what is read, though it is removed by then.
    const held = new Set(inFlight.keys());
    const range = { start, end: messageKeys.end };
    const { entries, damage } = await readAroundDamage(this.#engine, range, limit);
    for (const error of damage) this.#reportOnce(error.key, error);
    const now = Date.now();
    const ready: ReadyMessage[] = [];
    const lost: StoredMessage[] = [];
    for (const entry of entries) {
      if (held.has(textOfBytes(entry.key))) continue;
      const readyAt = readyAtOf(entry.key);
      if (readyAt > now) {
        this.expect(entry.key);
        return { ready, lost, hasMore: false, nextReadyAt: readyAt };
      }
      const message = this.#decode(entry);
      if (message?.isInDelivery) lost.push(message);
      else if (message !== undefined) ready.push(message);
    }
    const hasMore = !isRangeEnd(entries, limit);
    if (hasMore) this.expect(keyAfter(entries.at(-1)!.key));
    return { ready, lost, hasMore, nextReadyAt: undefined };
  }

  /** Undefined where it cannot be read. It stays where it is: a later version, or a repair, may read it. */
  #decode(entry: StoredEntry): ReadyMessage | undefined {
    try {
      const message = decodeQueuedMessage(entry);
      const value = decodeStoredValue({ ...entry, value: message.payload });
      return { ...message, key: entry.key, value };
    } catch (error) {
      this.#reportOnce(entry.key, error);
      return undefined;
    }
  }

  #reportOnce(key: Uint8Array, error: unknown): void {
    const text = textOfBytes(key);
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    reportError("A message of the queue cannot be read and is passed over", error);
  }
}
