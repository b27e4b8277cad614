import { describe, expect, it, vi } from "vitest";
import { compareBytes } from "../src/bytes/compare-bytes.js";
import type { Engine, StoredEntry } from "../src/engine/engine.js";
import {
  CorruptionError,
  DatabaseClosedError,
  DatabaseFormatError,
  EngineFailedError,
} from "../src/errors/core-errors.js";
import { messageKey, messageKeys, readyAtOf } from "../src/kv/queue/message-key.js";
import { readAroundDamage } from "../src/kv/queue/read-around-damage.js";
import { KvU64 } from "../src/values/kv-u64.js";
import { deferred, pass, settled, withQueue } from "./queue-on-memory.js";

const values = (deliveries: readonly (readonly unknown[])[]) => deliveries.map(([value]) => value);

/** A handler that never ends. */
const hanging = () => new Promise<void>(() => undefined);

function quietConsole() {
  return vi.spyOn(console, "error").mockImplementation(() => undefined);
}

describe("a message", () => {
  it("is delivered to a handler, which takes it", async () => {
    await withQueue(async (on) => {
      const handler = vi.fn();
      on.queue.listen(handler, false);
      const message = new Map([["a", new Date(0)]]);
      await on.enqueue(message);
      await settled();
      expect(handler.mock.calls).toEqual([[message]]);
      expect(await on.stored()).toEqual([]);
      await pass(1e9);
      expect(handler).toHaveBeenCalledTimes(1);
    });
  });

  it("that was there before anybody listened is delivered, the one that is due first first", async () => {
    await withQueue(async (on) => {
      await on.enqueue("third", { delay: 30 });
      await on.enqueue("first");
      await on.enqueue("second", { delay: 20 });
      await pass(40);
      const handler = vi.fn();
      on.queue.listen(handler, false);
      await settled();
      expect(values(handler.mock.calls)).toEqual(["first", "second", "third"]);
    });
  });

  it("is delivered when its delay is over, and not before", async () => {
    await withQueue(async (on) => {
      const month = 30 * 24 * 60 * 60 * 1000;
      const handler = vi.fn();
      on.queue.listen(handler, false);
      await on.enqueue("later", { delay: month });
      await on.enqueue("soon", { delay: 1000 });
      await pass(999);
      expect(values(handler.mock.calls)).toEqual([]);
      await pass(1);
      expect(values(handler.mock.calls)).toEqual(["soon"]);
      await pass(month - 1001);
      expect(values(handler.mock.calls)).toEqual(["soon"]);
      await pass(1);
      expect(values(handler.mock.calls)).toEqual(["soon", "later"]);
    });
  });

  it("stays stored, with its delivery counted, until its handler has ended", async () => {
    await withQueue(async (on) => {
      const work = deferred();
      on.queue.listen(() => work.promise, false);
      await on.enqueue("a");
      await settled();
      expect(await on.stored()).toMatchObject([{ value: "a", failures: 0, isInDelivery: true }]);
      work.resolve();
      await settled();
      expect(await on.stored()).toEqual([]);
    });
  });

  it("is taken for good as durably as its listener asks", async () => {
    await withQueue(async (on) => {
      for (const sync of [true, false]) {
        const { end } = on.queue.listen(() => undefined, sync);
        on.writes.length = 0;
        await on.enqueue("a");
        await settled();
        expect(on.writes.map((write) => write.sync)).toEqual([false, sync]);
        end();
      }
    });
  });

  it("is another object each time", async () => {
    await withQueue(async (on) => {
      quietConsole();
      const seen: unknown[] = [];
      const handler = (value: unknown) => {
        seen.push(structuredClone(value));
        (value as { n: number }).n = 2;
        if (seen.length === 1) throw new Error("once");
      };
      on.queue.listen(handler, false);
      await on.enqueue({ n: 1 });
      await pass(100);
      expect(seen).toEqual([{ n: 1 }, { n: 1 }]);
    });
  });
});

describe("a delivery that fails", () => {
  it.each<[string, () => Promise<void> | void]>([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
  ])("because the handler %s is made again by the schedule, and said so", async (_how, fail) => {
    await withQueue(async (on) => {
      const error = quietConsole();
      const start = Date.now();
      const times: number[] = [];
      on.queue.listen(() => {
        times.push(Date.now() - start);
        return fail();
      }, false);
      await on.enqueue("a");
      await settled();
      expect(await on.stored()).toMatchObject([
        { readyAt: start + 100, failures: 1, isInDelivery: false },
      ]);
      await pass(1e9);
      expect(times).toEqual([0, 100, 1100, 6100, 36_100, 96_100]);
      expect(error.mock.calls).toEqual(
        times.map(() => ["Exception in queue handler", new Error("no")]),
      );
      expect(await on.stored()).toEqual([]);
      expect(await on.entries()).toEqual([]);
    });
  });

  it("is made again by the message's own schedule, counted from its end", async () => {
    await withQueue(async (on) => {
      quietConsole();
      const start = Date.now();
      const times: number[] = [];
      const handler = async () => {
        times.push(Date.now() - start);
        await new Promise((resolve) => setTimeout(resolve, 50));
        throw new Error("no");
      };
      on.queue.listen(handler, false);
      await on.enqueue("a", { backoffSchedule: [0, 10] });
      await pass(1e6);
      expect(times).toEqual([0, 50, 110]);
      expect(await on.stored()).toEqual([]);
    });
  });

  it("is not made again after one that does not fail", async () => {
    await withQueue(async (on) => {
      quietConsole();
      const handler = vi.fn().mockRejectedValueOnce(new Error("once"));
      on.queue.listen(handler, false);
      await on.enqueue("a", { keysIfUndelivered: [["lost"]] });
      await pass(1e6);
      expect(values(handler.mock.calls)).toEqual(["a", "a"]);
      expect(await on.stored()).toEqual([]);
      expect(await on.entries()).toEqual([]);
    });
  });

  it.each([new Map([[1, new Set([-0, undefined])]]), new KvU64(7n), "text"])(
    "for the last time leaves the message under the keys that it names: %o",
    async (message) => {
      await withQueue(async (on) => {
        quietConsole();
        on.queue.listen(() => Promise.reject(new Error("no")), true);
        const keysIfUndelivered = [
          ["lost", 1],
          ["lost", 2n],
        ];
        await on.enqueue(message, { keysIfUndelivered, backoffSchedule: [10] });
        await pass(9);
        expect(await on.entries()).toEqual([]);
        await pass(1);
        expect(await on.stored()).toEqual([]);
        const entries = await on.entries();
        expect(entries.map(({ key, value }) => ({ key, value }))).toEqual(
          keysIfUndelivered.map((key) => ({ key, value: message })),
        );
        // One commit, and one that is as durable as the listener asks.
        expect(entries[0]!.versionstamp).toBe(entries[1]!.versionstamp);
        expect(on.writes.at(-1)).toMatchObject({ sync: true, mutations: { length: 3 } });
      });
    },
  );

  it("without a schedule is the last", async () => {
    await withQueue(async (on) => {
      quietConsole();
      const handler = vi.fn().mockRejectedValue(new Error("no"));
      on.queue.listen(handler, false);
      await on.enqueue("a", { backoffSchedule: [], keysIfUndelivered: [["lost"]] });
      await pass(1e6);
      expect(handler).toHaveBeenCalledTimes(1);
      expect(await on.entries()).toMatchObject([{ key: ["lost"], value: "a" }]);
    });
  });
});

describe("listeners", () => {
  it("get messages in turn, each message one of them", async () => {
    await withQueue(async (on) => {
      const first = vi.fn();
      const second = vi.fn();
      on.queue.listen(first, false);
      on.queue.listen(second, false);
      await on.enqueueAll([1, 2, 3, 4, 5, 6]);
      await settled();
      expect(values(first.mock.calls)).toEqual([1, 3, 5]);
      expect(values(second.mock.calls)).toEqual([2, 4, 6]);
    });
  });

  it("have 100 messages at a time, and the next when one has ended", async () => {
    await withQueue(async (on) => {
      const work = Array.from({ length: 205 }, deferred);
      const handler = vi.fn((value: unknown) => work[value as number]!.promise);
      on.queue.listen(handler, false);
      await on.enqueueAll(
        work.map((_, index) => index),
        { backoffSchedule: [] },
      );
      await settled();
      expect(handler).toHaveBeenCalledTimes(100);
      await on.enqueue(204, { delay: 10 });
      await pass(20);
      expect(handler).toHaveBeenCalledTimes(100);
      work[17]!.resolve();
      await settled();
      expect(handler).toHaveBeenCalledTimes(101);
      for (const { resolve } of work) resolve();
      await settled();
      expect(handler).toHaveBeenCalledTimes(206);
      expect(await on.stored()).toEqual([]);
    });
  });

  it("that are stopped get no more, and may finish what they have", async () => {
    await withQueue(async (on) => {
      const work = deferred();
      const stopped = vi.fn(() => work.promise);
      const other = vi.fn();
      const listener = on.queue.listen(stopped, false);
      await on.enqueue(1);
      await settled();
      on.queue.listen(other, false);
      listener.end();
      listener.end();
      await listener.done;
      await on.enqueueAll([2, 3]);
      work.resolve();
      await settled();
      expect(values(stopped.mock.calls as unknown[][])).toEqual([1]);
      expect(values(other.mock.calls)).toEqual([2, 3]);
      expect(await on.stored()).toEqual([]);
    });
  });

  it("are done when what has ended is written", async () => {
    await withQueue(async (on) => {
      const commit = deferred();
      const { done, end } = on.queue.listen(() => {
        on.beforeCommit = () => commit.promise;
      }, false);
      await on.enqueue(1);
      await settled();
      end();
      let isDone = false;
      void done.then(() => {
        isDone = true;
      });
      await settled();
      expect(isDone).toBe(false);
      commit.resolve();
      await done;
      expect(await on.stored()).toEqual([]);
    });
  });

  it("that come when the last has left get what has come in between", async () => {
    await withQueue(async (on) => {
      const first = vi.fn();
      on.queue.listen(first, false).end();
      await on.enqueue(1);
      await on.enqueue(2, { delay: 10 });
      await pass(20);
      expect(first).not.toHaveBeenCalled();
      expect(on.writes).toEqual([]);
      const second = vi.fn();
      on.queue.listen(second, false);
      await settled();
      expect(values(second.mock.calls)).toEqual([1, 2]);
    });
  });

  it("that are all stopped by a handler leave the rest of the batch uncounted", async () => {
    await withQueue(async (on) => {
      const first = vi.fn(() => listener.end());
      const listener = on.queue.listen(first, false);
      await on.enqueueAll([1, 2, 3]);
      await settled();
      expect(first).toHaveBeenCalledTimes(1);
      expect(await on.stored()).toMatchObject([
        { failures: 0, isInDelivery: false },
        { failures: 0, isInDelivery: false },
      ]);
      const second = vi.fn();
      on.queue.listen(second, false);
      await settled();
      expect(second).toHaveBeenCalledTimes(2);
    });
  });

  it("keep the process alive, and nothing does without them", async () => {
    await withQueue(async (on) => {
      for (let time = 0; time < 2; time++) {
        const idle = [1, 2].map(() => on.queue.listen(() => undefined, false));
        await settled();
        for (const { end } of idle) {
          expect(vi.getTimerCount()).toBe(1);
          end();
        }
        expect(vi.getTimerCount()).toBe(0);
      }
      await on.enqueue(1, { delay: 1000 });
      expect(vi.getTimerCount()).toBe(0);
      const first = on.queue.listen(() => undefined, false);
      const second = on.queue.listen(() => undefined, false);
      await settled();
      first.end();
      expect(vi.getTimerCount()).toBeGreaterThan(0);
      second.end();
      expect(vi.getTimerCount()).toBe(0);
      await settled();
      expect(vi.getTimerCount()).toBe(0);
      on.queue.listen(() => undefined, false);
      await settled();
      await on.queue.close();
      expect(vi.getTimerCount()).toBe(0);
    });
  });
});

describe("waking the queue", () => {
  it("finds what was committed", async () => {
    await withQueue(async (on) => {
      const handler = vi.fn();
      on.queue.listen(handler, false);
      await settled();
      vi.spyOn(on.queue, "wake").mockImplementationOnce(() => undefined);
      await on.enqueue(1);
      await settled();
      expect(handler).not.toHaveBeenCalled();
      on.queue.wake();
      await settled();
      expect(handler).toHaveBeenCalledTimes(1);
    });
  });

  it("does not read what is before the message that came, so as not to pass over all that were removed", async () => {
    await withQueue(async (on) => {
      const work = deferred();
      on.queue.listen(() => work.promise, false);
      await on.enqueueAll([1, 2]);
      await pass(1);
      const [first] = await on.storedEntries();
      const getRange = vi.spyOn(on.engine, "getRange");
      await on.enqueue(3);
      await settled();
      const starts = getRange.mock.calls.map(([{ range }]) => range.start);
      expect(starts).toHaveLength(1);
      expect(compareBytes(starts[0]!, first!.key)).toBeGreaterThan(0);
      // The commits that begin deliveries store messages, too.
      on.queue.wake(first!.key);
      await settled();
      work.resolve();
      await settled();
      // The ends of deliveries bring nothing to read.
      expect(getRange).toHaveBeenCalledTimes(1);
    });
  });

  it("where nobody listens reads nothing", async () => {
    await withQueue(async (on) => {
      await on.enqueue(1);
      on.queue.wake();
      await settled();
      expect(on.reads).toBe(0);
    });
  });
});

describe("at the same time", () => {
  it("reads and ends of deliveries deliver no message twice", async () => {
    await withQueue(async (on) => {
      const work = deferred();
      const handler = vi.fn(() => work.promise);
      on.queue.listen(handler, false);
      await on.enqueue(1);
      await settled();
      const read = deferred();
      on.afterRead = () => read.promise;
      // It reads from the beginning, and so finds the message that is being delivered.
      on.queue.wake();
      await settled();
      work.resolve();
      await settled();
      expect(await on.stored()).toEqual([]);
      read.resolve();
      await settled();
      expect(handler).toHaveBeenCalledTimes(1);
      expect(await on.stored()).toEqual([]);
    });
  });

  it("a message that comes during a read is not overlooked", async () => {
    await withQueue(async (on) => {
      const handler = vi.fn();
      const read = deferred();
      on.afterRead = () => read.promise;
      on.queue.listen(handler, false);
      await settled();
      await on.enqueue(1);
      read.resolve();
      await settled();
      expect(handler).toHaveBeenCalledTimes(1);
    });
  });

  it("hundreds of messages and listeners that fail now and then all come to an end", async () => {
    await withQueue(async (on) => {
      quietConsole();
      const failing = new Set(Array.from({ length: 300 }, (_, index) => index * 3));
      const taken: unknown[] = [];
      const handler = async (value: unknown) => {
        await new Promise((resolve) => setTimeout(resolve, (value as number) % 7));
        if (failing.delete(value as number)) throw new Error("once");
        taken.push(value);
      };
      for (let listener = 0; listener < 3; listener++) on.queue.listen(handler, false);
      for (let value = 0; value < 900; value += 10) {
        const some = Array.from({ length: 10 }, (_, index) => value + index);
        await on.enqueueAll(some, { delay: value % 40, backoffSchedule: [value % 11] });
        await pass(1);
      }
      await pass(1000);
      expect(taken.sort((a, b) => (a as number) - (b as number))).toEqual(
        Array.from({ length: 900 }, (_, index) => index),
      );
      expect(await on.stored()).toEqual([]);
    });
  });
});

describe("closing the queue", () => {
  it("does not wait for a handler, whose message comes again at once, as if it had not been delivered", async () => {
    await withQueue(async (on) => {
      const listener = on.queue.listen(hanging, false);
      await on.enqueueAll([1, 2], { backoffSchedule: [] });
      await settled();
      await on.reopen();
      await listener.done;
      expect(await on.stored()).toMatchObject([
        { failures: 0, isInDelivery: false },
        { failures: 0, isInDelivery: false },
      ]);
      const handler = vi.fn();
      on.queue.listen(handler, false);
      await settled();
      expect(values(handler.mock.calls)).toEqual([1, 2]);
    });
  });

  it("leaves to a handler that ends later nothing to write", async () => {
    await withQueue(async (on) => {
      const work = deferred();
      on.queue.listen(() => work.promise, false);
      await on.enqueue(1);
      await settled();
      await on.queue.close();
      const writes = on.writes.length;
      work.resolve();
      await settled();
      expect(on.writes).toHaveLength(writes);
      expect(await on.stored()).toHaveLength(1);
    });
  });

  it("waits for the ends of deliveries that are being written", async () => {
    await withQueue(async (on) => {
      const commit = deferred();
      on.queue.listen(() => {
        on.beforeCommit = () => commit.promise;
      }, false);
      await on.enqueue(1);
      await settled();
      let isClosed = false;
      const closing = on.queue.close().then(() => {
        isClosed = true;
      });
      await settled();
      expect(isClosed).toBe(false);
      commit.resolve();
      await closing;
      expect(await on.stored()).toEqual([]);
    });
  });

  it("while a batch is begun takes its messages back", async () => {
    await withQueue(async (on) => {
      const commit = deferred();
      on.beforeCommit = () => commit.promise;
      const handler = vi.fn();
      on.queue.listen(handler, false);
      await on.enqueue(1);
      await settled();
      const closing = on.queue.close();
      commit.resolve();
      await closing;
      expect(handler).not.toHaveBeenCalled();
      expect(await on.stored()).toMatchObject([{ failures: 0, isInDelivery: false }]);
    });
  });

  it("may be done by a handler, which may wait for it", async () => {
    await withQueue(async (on) => {
      const closed = vi.fn();
      on.queue.listen(async () => {
        await on.queue.close();
        closed();
      }, false);
      await on.enqueueAll([1, 2]);
      await settled();
      expect(closed).toHaveBeenCalledTimes(1);
      expect(await on.stored()).toMatchObject([{ isInDelivery: false }, { isInDelivery: false }]);
    });
  });

  it("ends it: nobody can listen any more", async () => {
    await withQueue(async (on) => {
      const { done } = on.queue.listen(() => undefined, false);
      await Promise.all([on.queue.close(), on.queue.close(), done]);
      expect(() => on.queue.listen(() => undefined, false)).toThrow(DatabaseClosedError);
    });
  });
});

describe("a process that dies", () => {
  it("loses the deliveries it had begun, which count as failed", async () => {
    await withQueue(async (on) => {
      on.queue.listen(hanging, false);
      await on.enqueue("a", { backoffSchedule: [10, 20] });
      await settled();
      on.crash();
      const handler = vi.fn();
      on.queue.listen(handler, false);
      await pass(9);
      expect(handler).not.toHaveBeenCalled();
      expect(await on.stored()).toMatchObject([{ failures: 1, isInDelivery: false }]);
      await pass(1);
      expect(values(handler.mock.calls)).toEqual(["a"]);
      expect(await on.stored()).toEqual([]);
    });
  });

  it("each time of the same message has it undelivered in the end, and not before", async () => {
    await withQueue(async (on) => {
      await on.enqueue("deadly", { backoffSchedule: [10, 20], keysIfUndelivered: [["lost"]] });
      const deadly = vi.fn(hanging);
      for (let death = 0; death < 3; death++) {
        expect(await on.entries()).toEqual([]);
        on.queue.listen(deadly, false);
        await pass(1e4);
        expect(deadly).toHaveBeenCalledTimes(death + 1);
        on.crash();
      }
      on.queue.listen(deadly, false);
      await pass(1e4);
      expect(deadly).toHaveBeenCalledTimes(3);
      expect(await on.entries()).toMatchObject([{ key: ["lost"], value: "deadly" }]);
      expect(await on.stored()).toEqual([]);
    });
  });

  it("before a message is delivered takes nothing from it", async () => {
    await withQueue(async (on) => {
      await on.enqueue("a", { backoffSchedule: [] });
      on.crash();
      const handler = vi.fn();
      on.queue.listen(handler, false);
      await settled();
      expect(handler).toHaveBeenCalledTimes(1);
    });
  });
});

describe("a message that cannot be read", () => {
  it("because its record is damaged holds up no other, is told of once, and stays", async () => {
    await withQueue(async (on) => {
      const error = quietConsole();
      await on.enqueueAll([1, 2, 3, 4, 5]);
      const entries = await on.storedEntries();
      for (const index of [0, 1, 3])
        await on.level.put(entries[index]!.key, Uint8Array.of(1, 2, 3));
      const handler = vi.fn();
      const { done, end } = on.queue.listen(handler, false);
      await settled();
      on.queue.wake();
      await on.enqueue(6);
      await settled();
      expect(handler).toHaveBeenCalledTimes(3);
      expect(error.mock.calls).toEqual(
        [0, 1, 3].map((index) => [
          "A message of the queue cannot be read and is passed over",
          expect.objectContaining({ code: "KW_CORRUPTION", key: entries[index]!.key }),
        ]),
      );
      expect(await on.level.get(entries[0]!.key)).toEqual(Uint8Array.of(1, 2, 3));
      end();
      await done;
    });
  });

  it("because its key has another length holds up no other, and is told of once", async () => {
    await withQueue(async (on) => {
      const error = quietConsole();
      await on.enqueue(1);
      const [entry] = await on.storedEntries();
      const key = Uint8Array.of(0x00, 0x04, 0x01);
      const { value } = entry!;
      const mutation = { type: "set" as const, key, value, endsInVersionstamp: false };
      await on.engine.commit([{ checks: [], mutations: [mutation], sync: false }]);
      const handler = vi.fn();
      const { done, end } = on.queue.listen(handler, false);
      await settled();
      on.queue.wake();
      await settled();
      expect(handler.mock.calls).toEqual([[1]]);
      expect(error.mock.calls).toEqual([
        [
          "A message of the queue cannot be read and is passed over",
          expect.objectContaining({ code: "KW_CORRUPTION", key }),
        ],
      ]);
      end();
      await done;
    });
  });

  it("is found whichever of several the engine tells of first", async () => {
    const keys = Array.from({ length: 6 }, (_, index) => messageKey(index, new Uint8Array(16)));
    const damaged = [1, 2, 4];
    const engine: Pick<Engine, "getRange"> = {
      getRange: async ({ range, limit }) => {
        expect(limit).toBeGreaterThan(0);
        const inRange = keys.flatMap((key, index) =>
          compareBytes(key, range.start) >= 0 && compareBytes(key, range.end) < 0 ? [index] : [],
        );
        const last = inRange.filter((index) => damaged.includes(index)).at(-1);
        if (last !== undefined) throw new CorruptionError("a bit", keys[last]);
        const value = new Uint8Array(1);
        return inRange
          .slice(0, limit)
          .map((index) => ({ key: keys[index]!, value }) as unknown as StoredEntry);
      },
    };
    const read = async (limit: number) => {
      const { entries, damage } = await readAroundDamage(engine as Engine, messageKeys, limit);
      return [entries, damage].map((found) => found.map(({ key }) => readyAtOf(key)));
    };
    expect(await read(9)).toEqual([[0, 3, 5], damaged]);
    expect((await read(2))[0]).toEqual([0, 3]);
  });

  it("because its content is of a later format or no value holds up no other", async () => {
    await withQueue(async (on) => {
      const error = quietConsole();
      await on.enqueueAll(Array.from({ length: 250 }, (_, index) => index));
      const entries = await on.storedEntries();
      const mutations = entries.slice(0, 240).map(({ key, value }, index) => {
        const damaged = value.slice();
        if (index % 2 === 0) damaged[0] = 2;
        // A format of values that there is not.
        else damaged[damaged.length - (value.length - 28)] = 0x7f;
        return { type: "set", key, value: damaged } as const;
      });
      await on.engine.commit([{ checks: [], mutations, sync: false }]);
      const handler = vi.fn();
      on.queue.listen(handler, false);
      await settled();
      expect(handler).toHaveBeenCalledTimes(10);
      expect(await on.storedEntries()).toHaveLength(240);
      const errors = error.mock.calls.map(([, cause]) => cause as unknown);
      expect(errors.filter((cause) => cause instanceof DatabaseFormatError)).toHaveLength(120);
      expect(errors.filter((cause) => cause instanceof CorruptionError)).toHaveLength(120);
    });
  });
});

describe("an engine that fails", () => {
  const failure = new EngineFailedError(new Error("disk"), "read");

  it.each<[string, number]>([
    ["as a delivery begins", 0],
    ["as a delivery ends", 1],
  ])(
    "%s ends the listeners, and the message is delivered when it works again",
    async (_when, works) => {
      await withQueue(async (on) => {
        let commits = 0;
        on.beforeCommit = () => {
          if (commits++ >= works) throw failure;
        };
        const handler = vi.fn();
        const listeners = [on.queue.listen(handler, false), on.queue.listen(handler, false)];
        const ends = Promise.allSettled(listeners.map(({ done }) => done));
        await on.enqueue(1);
        expect(await ends).toEqual([
          { status: "rejected", reason: failure },
          { status: "rejected", reason: failure },
        ]);
        expect(handler).toHaveBeenCalledTimes(works);
        const { reads } = on;
        await pass(1e9);
        expect({ commits, reads: on.reads }).toEqual({ commits: works + 1, reads });
        on.beforeCommit = () => undefined;
        on.crash();
        on.queue.listen(handler, false);
        await pass(100);
        expect(handler).toHaveBeenCalledTimes(works + 1);
        expect(await on.stored()).toEqual([]);
      });
    },
  );

  it("as messages are read ends the listeners, and who listens again tries again", async () => {
    await withQueue(async (on) => {
      const damage = new CorruptionError("a block");
      on.afterRead = () => {
        throw damage;
      };
      await on.enqueue(1);
      const handler = vi.fn();
      await expect(on.queue.listen(handler, false).done).rejects.toBe(damage);
      const { reads } = on;
      await pass(1e9);
      expect(on.reads).toBe(reads);
      on.afterRead = () => undefined;
      on.queue.listen(handler, false);
      await settled();
      expect(handler).toHaveBeenCalledTimes(1);
    });
  });

  it("as the queue is closed does not keep it from closing", async () => {
    await withQueue(async (on) => {
      const { done } = on.queue.listen(hanging, false);
      await on.enqueue(1, { backoffSchedule: [5] });
      await settled();
      on.beforeCommit = () => {
        throw failure;
      };
      await on.queue.close();
      await done;
      on.beforeCommit = () => undefined;
      on.crash();
      const handler = vi.fn();
      on.queue.listen(handler, false);
      await pass(5);
      expect(handler).toHaveBeenCalledTimes(1);
    });
  });
});
