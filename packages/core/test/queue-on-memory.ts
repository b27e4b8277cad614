import { MemoryLevel } from "memory-level";
import { vi } from "vitest";
import { CommitQueue } from "../src/engine/commit/commit-queue.js";
import type { AtomicWrite, Engine, StoredEntry } from "../src/engine/engine.js";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import { decodeKey } from "../src/keys/decode-key.js";
import { specificationOrder } from "../src/keys/key-order.js";
import { keyRange } from "../src/keys/key-range.js";
import type { KvEnqueueOptions } from "../src/kv/atomic-operation.js";
import { draftMessage, enqueueMutation } from "../src/kv/queue/enqueue-mutation.js";
import { messageKeys, readyAtOf } from "../src/kv/queue/message-key.js";
import { MessageQueue } from "../src/kv/queue/message-queue.js";
import { decodeQueuedMessage } from "../src/kv/queue/queued-message.js";
import { decodeValue } from "../src/values/decode-value.js";
import { maxGroupSize } from "../src/values/versionstamp.js";

const view = { keyEncoding: "view", valueEncoding: "view" } as const;

/**
 * A queue on the real engine in memory. Its commits and reads are recorded and can be made to fail
 * or wait.
 */
class QueueOnMemory {
  readonly level: MemoryLevel<Uint8Array, Uint8Array>;
  readonly engine: LevelEngine;
  readonly #commits: CommitQueue;
  /** The commits of the queue's own, in order. */
  readonly writes: AtomicWrite[] = [];
  reads = 0;
  /** Called before a commit of the queue's own. */
  beforeCommit: (write: AtomicWrite) => void | Promise<void> = () => undefined;
  /** Called with what a read has found, before the queue gets it. */
  afterRead: () => void | Promise<void> = () => undefined;
  queue: MessageQueue;

  private constructor(level: MemoryLevel<Uint8Array, Uint8Array>, engine: LevelEngine) {
    this.level = level;
    this.engine = engine;
    this.#commits = new CommitQueue(engine, maxGroupSize);
    this.queue = this.#openQueue();
  }

  static async open(): Promise<QueueOnMemory> {
    const level = new MemoryLevel<Uint8Array, Uint8Array>({ ...view, storeEncoding: "view" });
    return new QueueOnMemory(level, await LevelEngine.open(level as unknown as LevelDatabase));
  }

  /**
   * Returns another queue on the same data, as after a crash. The old queue writes nothing
   * afterwards.
   */
  crash(): void {
    this.queue = this.#openQueue();
  }

  async reopen(): Promise<void> {
    await this.queue.close();
    this.queue = this.#openQueue();
  }

  async close(): Promise<void> {
    await this.queue.close();
    await this.engine.close();
  }

  async enqueue(value: unknown, options?: KvEnqueueOptions): Promise<void> {
    await this.enqueueAll([value], options);
  }

  async enqueueAll(values: readonly unknown[], options?: KvEnqueueOptions): Promise<void> {
    const mutations = values.map((value) =>
      enqueueMutation(draftMessage(value, options, specificationOrder), Date.now()),
    );
    await this.#commits.commit({ checks: [], mutations, sync: false });
    for (const { key } of mutations) this.queue.wake(key);
  }

  async storedEntries(): Promise<StoredEntry[]> {
    return await this.engine.getRange({ range: messageKeys, limit: 1e6, reverse: false });
  }

  /** What is in the queue. */
  async stored() {
    return (await this.storedEntries()).map((entry) => {
      const { payload, failures, isInDelivery } = decodeQueuedMessage(entry);
      return {
        value: decodeValue(payload),
        readyAt: readyAtOf(entry.key),
        failures,
        isInDelivery,
      };
    });
  }

  /** Everything that is stored under ordinary keys, with its versionstamps. */
  async entries() {
    const range = keyRange({ start: [], end: [true] });
    const entries = await this.engine.getRange({ range, limit: 1e6, reverse: false });
    return entries.map(({ key, value, versionstamp }) => ({
      key: decodeKey(key, specificationOrder),
      value: decodeValue(value),
      versionstamp,
    }));
  }

  #openQueue(): MessageQueue {
    const engine: Pick<Engine, "getRange"> = {
      getRange: async (read) => {
        this.reads++;
        const entries = await this.engine.getRange(read);
        await this.afterRead();
        return entries;
      },
    };
    const queue: MessageQueue = new MessageQueue(engine as Engine, async (write) => {
      if (queue !== this.queue) return await new Promise<never>(() => undefined);
      await this.beforeCommit(write);
      this.writes.push(write);
      return await this.#commits.commit(write);
    });
    return queue;
  }
}

/** Runs a body with a queue of its own, and with the clock in its hands. */
export async function withQueue(body: (on: QueueOnMemory) => Promise<void>): Promise<void> {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
    now: new Date("2026-01-01T00:00:00Z"),
  });
  const on = await QueueOnMemory.open();
  try {
    await body(on);
  } finally {
    await on.close();
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
}

/**
 * Advances the clock and waits for all work that is due. A database in memory waits for nothing
 * else.
 */
export async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
  await settled();
}

/** Waits for the end of all that can be done without the clock. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** A promise that is settled from outside. */
export function deferred(): {
  promise: Promise<void>;
  resolve: () => void;
  reject: (reason: unknown) => void;
} {
  let resolve: () => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
