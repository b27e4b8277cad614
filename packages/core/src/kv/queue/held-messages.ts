import { unref } from "#platform";
import { textOfBytes } from "../../bytes/text-of-bytes.js";
import type { AtomicWrite, StoredMutation } from "../../engine/engine.js";
import {
  beginDelivery,
  moveMessage,
  type StoredMessage,
  withdrawDelivery,
} from "./message-life.js";
import type { ReadyMessage } from "./message-reader.js";

/**
 * Milliseconds for which a process of a shared database has a message before others take it for
 * lost. It is renewed when a third of this time has passed, so that clocks may differ by 5 seconds.
 */
const leaseTime = 30_000;

/** A message that a handler has or is about to get. */
export interface HeldMessage {
  /** The message as it is stored at the moment. */
  message: ReadyMessage;
  /** The renewal of its lease in progress. */
  renewing: Promise<void> | undefined;
  /** True if its delivery ends, or if the lease was lost. */
  isOver: boolean;
}

/**
 * The messages that this process delivers, by the texts of their keys.
 *
 * In a shared database, each change of a message checks that it is unchanged. A message in delivery
 * is moved to the time at which its lease ends, so that one process at a time has it.
 */
export class HeldMessages {
  readonly #commit: (write: AtomicWrite) => Promise<string | null>;
  readonly #isShared: boolean;
  readonly #byKey = new Map<string, HeldMessage>();
  #timer: NodeJS.Timeout | undefined;

  constructor(commit: (write: AtomicWrite) => Promise<string | null>, isShared: boolean) {
    this.#commit = commit;
    this.#isShared = isShared;
  }

  get size(): number {
    return this.#byKey.size;
  }

  has(key: Uint8Array): boolean {
    return this.#byKey.has(textOfBytes(key));
  }

  /** Returns the texts of the keys of the messages at this moment. */
  keyTexts(): Set<string> {
    return new Set(this.#byKey.keys());
  }

  all(): HeldMessage[] {
    return [...this.#byKey.values()];
  }

  add(message: ReadyMessage): HeldMessage {
    const held = { message, renewing: undefined, isOver: false };
    this.#byKey.set(textOfBytes(message.key), held);
    return held;
  }

  remove({ message }: HeldMessage): void {
    this.#byKey.delete(textOfBytes(message.key));
    if (this.#byKey.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Returns false if another process has the message. Then it is no longer held. */
  async begin(held: HeldMessage): Promise<boolean> {
    // Not synced: if a power cut undoes the mark, the delivery is not counted.
    if (!this.#isShared) return await this.change(held.message, beginDelivery(held.message), false);
    this.#timer ??= unref(setInterval(() => this.#renewAll(), leaseTime / 3));
    let isLeased = false;
    try {
      isLeased = await this.#lease(held);
    } finally {
      if (!isLeased) this.remove(held);
    }
    return isLeased;
  }

  /**
   * Takes a delivery back, after which the message is no longer held. Returns the mutations, or
   * none if another process has the message.
   */
  async withdraw(held: HeldMessage): Promise<readonly StoredMutation[]> {
    await this.settle(held);
    const { message } = held;
    if (!this.has(message.key)) return [];
    this.remove(held);
    const mutations = this.#isShared
      ? moveMessage(message, Date.now(), false)
      : withdrawDelivery(message);
    return (await this.change(message, mutations, false)) ? mutations : [];
  }

  /** Ends the renewals of a message. Afterwards its key no longer changes. */
  async settle(held: HeldMessage): Promise<void> {
    held.isOver = true;
    await held.renewing;
  }

  /** Commits mutations of a message. Returns false if another process has changed it. */
  async change(
    { key, versionstamp }: StoredMessage,
    mutations: readonly StoredMutation[],
    sync: boolean,
  ): Promise<boolean> {
    const checks = this.#isShared ? [{ key, versionstamp }] : [];
    return (await this.#commit({ checks, mutations, sync })) !== null;
  }

  #renewAll(): void {
    for (const held of this.all()) {
      if (held.isOver) continue;
      held.renewing ??= this.#lease(held)
        .then((isHeld) => {
          if (!isHeld) this.remove(held);
        })
        // The next renewal tries again. If the lease ends before, another process has the message.
        .catch(() => undefined)
        .finally(() => {
          held.renewing = undefined;
        });
    }
  }

  /** Moves a message to the end of a new lease. Returns false if another process has changed it. */
  async #lease(held: HeldMessage): Promise<boolean> {
    const { message } = held;
    const { key, versionstamp } = message;
    const mutations = moveMessage(message, Date.now() + leaseTime, true);
    const checks = [{ key, versionstamp }];
    const stored = await this.#commit({ checks, mutations, sync: false });
    if (stored === null) return false;
    this.#byKey.delete(textOfBytes(key));
    held.message = { ...message, key: mutations[1].key, versionstamp: stored };
    this.#byKey.set(textOfBytes(held.message.key), held);
    return true;
  }
}
