import { describe, expect, it, vi } from "vitest";
import type { EmbeddedKv } from "../src/kv/embedded-kv.js";
import { openKv } from "../src/kv/open-kv.js";
import { type Process, startProcesses } from "./processes.js";
import { deferred, pass } from "./queue-on-memory.js";

interface Opened extends Process {
  readonly kv: EmbeddedKv;
  /** The messages that its handler got. */
  readonly got: unknown[];
  /** Listens, and waits with each message as long as `wait` does. */
  listen(wait?: () => unknown): void;
}

/** Runs a body with two processes on one database, whose clock the test holds. */
async function withTwo(body: (first: Opened, second: Opened) => Promise<void>): Promise<void> {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
    now: new Date("2026-01-01T00:00:00Z"),
  });
  const start = await startProcesses();
  const openOne = async (): Promise<Opened> => {
    const process = start();
    const kv = await openKv(process.engine);
    const got: unknown[] = [];
    const listen = (wait: () => unknown = () => undefined) => {
      void kv.listenQueue(async (message) => {
        got.push(message);
        await wait();
      });
    };
    return { ...process, kv, got, listen };
  };
  try {
    await body(await openOne(), await openOne());
  } finally {
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
}

describe("the queue of a shared database", () => {
  it("gives each message to one listener, whichever process enqueues it", () =>
    withTwo(async (first, second) => {
      first.listen();
      second.listen();
      const numbers = Array.from({ length: 300 }, (_, i) => i);
      await Promise.all(numbers.map((number) => (number % 2 ? first : second).kv.enqueue(number)));
      await pass(100);
      const got = [...first.got, ...second.got] as number[];
      expect(got.sort((a, b) => a - b)).toEqual(numbers);
    }));

  it("wakes the listeners of other processes, also for messages that are due later", () =>
    withTwo(async (first, second) => {
      first.listen();
      await pass(0);
      await second.kv.enqueue("now");
      await second.kv.enqueue("later", { delay: 500 });
      await pass(0);
      expect(first.got).toEqual(["now"]);
      await pass(499);
      expect(first.got).toEqual(["now"]);
      await pass(1);
      expect(first.got).toEqual(["now", "later"]);
    }));

  it("leaves a message with a slow handler, and removes it after that", () =>
    withTwo(async (first, second) => {
      const end = deferred();
      first.listen(() => end.promise);
      await first.kv.enqueue("slow");
      await pass(0);
      second.listen();
      await pass(300_000);
      expect([first.got, second.got]).toEqual([["slow"], []]);
      end.resolve();
      await pass(300_000);
      expect([first.got, second.got]).toEqual([["slow"], []]);
    }));

  it("delivers the message of a stopped process again after its lease and the first interval", () =>
    withTwo(async (first, second) => {
      first.listen(() => new Promise(() => undefined));
      await first.kv.enqueue("lost", { backoffSchedule: [1000] });
      await pass(0);
      first.stop();
      second.listen();
      await pass(30_000);
      expect(second.got).toEqual([]);
      await pass(1000);
      expect(second.got).toEqual(["lost"]);
    }));

  it("lets a process that was stopped for long neither end nor repeat what another has", () =>
    withTwo(async (first, second) => {
      const end = deferred();
      const commit = first.engine.commit.bind(first.engine);
      first.listen(() => end.promise);
      await first.kv.enqueue("paused", { backoffSchedule: [0, 0] });
      await pass(0);
      // Its renewals fail, as those of a process that sleeps.
      Object.assign(first.engine, {
        commit: async (writes: readonly unknown[]) => writes.map(() => new Error("asleep")),
      });
      second.listen();
      await pass(31_000);
      expect(second.got).toEqual(["paused"]);
      Object.assign(first.engine, { commit });
      end.resolve();
      await pass(100_000);
      expect([first.got, second.got]).toEqual([["paused"], ["paused"]]);
    }));

  it("gives messages back at once when a process closes the database", () =>
    withTwo(async (first, second) => {
      first.listen(() => new Promise(() => undefined));
      await first.kv.enqueue("back");
      await pass(0);
      await first.kv.close();
      second.listen();
      await pass(0);
      expect(second.got).toEqual(["back"]);
    }));
});

describe("the expiry of a shared database", () => {
  it("is swept by a process that has not stored the entry", () =>
    withTwo(async (first, second) => {
      await first.kv.set(["a"], 1, { expireIn: 1000 });
      await first.kv.close();
      const hints = { start: Uint8Array.of(0, 3), end: Uint8Array.of(0, 4) };
      const read = () => second.engine.getRange({ range: hints, limit: 9, reverse: false });
      await pass(9000);
      expect(await read()).toHaveLength(1);
      await pass(601_000);
      expect(await read()).toHaveLength(0);
    }));
});
