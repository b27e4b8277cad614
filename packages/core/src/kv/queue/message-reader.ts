import { compareBytes } from "../../bytes/compare-bytes.js";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { Engine, StoredEntry } from "../../engine/engine.js";
import { isRangeEnd } from "../../engine/engine.js";
import { CorruptionError } from "../../errors/core-errors.js";
import { keyAfter } from "../../keys/key-range.js";
import { decodeStoredValue } from "../read/stored-entry.js";
import { isMessageKey, messageKeys, readyAtOf } from "./message-key.js";
import type { StoredMessage } from "./message-life.js";
import { decodeQueuedMessage } from "./queued-message.js";
import { readAroundDamage } from "./read-around-damage.js";
import { reportError } from "./report-error.js";

export interface ReadyMessage extends StoredMessage {
  readonly value: unknown;
}

/** The first messages of the queue, by what the queue does with them. */
export interface MessageBatch {
  readonly ready: readonly ReadyMessage[];
  /** Due messages whose last delivery was lost with the process that began it. */
  readonly lost: readonly StoredMessage[];
  readonly hasMore: boolean;
  /** Milliseconds since the epoch. Undefined if the batch reaches no message that is not due. */
  readonly nextReadyAt: number | undefined;
}

export class MessageReader {
  readonly #engine: Engine;
  /**
   * No message before this key waits. A read from the beginning of the queue would scan the
   * deletion markers that LevelDB keeps for all messages that were removed there.
   */
  #start: Uint8Array = messageKeys.start;
  /** Messages that cannot be read and were reported, by the texts of their keys. */
  readonly #reported = new Set<string>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Makes the next read begin at this key or before it, because a message waits at or after it. */
  expect(key: Uint8Array): void {
    if (compareBytes(key, this.#start) < 0) this.#start = key;
  }

  /**
   * Reads a batch. The next batch begins after its messages. To read one of them again, call
   * `expect` with its key.
   *
   * @param held the texts of the keys of the messages that handlers have. The read may still return
   * a message that is removed during the read, when its delivery ends.
   * @param limit the maximum number of messages.
   * @throws {CorruptionError} if data is damaged and the engine does not report the key.
   */
  async read(held: ReadonlySet<string>, limit: number): Promise<MessageBatch> {
    const start = this.#start;
    // Messages that come during the read move it back.
    this.#start = messageKeys.end;
    const range = { start, end: messageKeys.end };
    const { entries, damage } = await readAroundDamage(this.#engine, range, limit);
    for (const error of damage) this.#reportOnce(error.key, error);
    const now = Date.now();
    const ready: ReadyMessage[] = [];
    const lost: StoredMessage[] = [];
    for (const entry of entries) {
      if (held.has(textOfBytes(entry.key))) continue;
      if (!isMessageKey(entry.key)) {
        const reason = "the key of a message has the wrong length";
        this.#reportOnce(entry.key, new CorruptionError(reason, entry.key));
        continue;
      }
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

  /**
   * Returns undefined if the message cannot be read. The message stays stored, because a later
   * version or a repair may be able to read it.
   */
  #decode(entry: StoredEntry): ReadyMessage | undefined {
    try {
      const message = decodeQueuedMessage(entry);
      const value = decodeStoredValue({ ...entry, value: message.payload });
      return { ...message, key: entry.key, versionstamp: entry.versionstamp, value };
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
