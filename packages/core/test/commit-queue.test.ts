import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CommitQueue } from "../src/engine/commit/commit-queue.js";
import type { AtomicWrite, Engine, WriteOutcome } from "../src/engine/engine.js";
import { CorruptionError } from "../src/errors/core-errors.js";

/** An engine that waits with each group until the test has it answered. */
class ManualEngine implements Pick<Engine, "commit" | "commitsAtOnce"> {
  readonly commitsAtOnce: boolean;
  /** The groups so far, each as the names of its writes. */
  readonly groups: string[][] = [];
  #answer: ((outcomes: WriteOutcome[]) => void) | undefined;
  #fail: ((error: unknown) => void) | undefined;
  #arrival: (() => void) | undefined;

  constructor(commitsAtOnce = false) {
    this.commitsAtOnce = commitsAtOnce;
  }

  commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    if (this.#answer !== undefined) throw new Error("called again before it has answered");
    this.groups.push(writes.map(nameOf));
    this.#arrival?.();
    return new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
    });
  }

  /** Resolves when the queue has handed over a group that is not answered yet. */
  async group(): Promise<string[]> {
    if (this.#answer === undefined) {
      await new Promise<void>((resolve) => {
        this.#arrival = resolve;
      });
    }
    return this.groups.at(-1)!;
  }

  /** Answers the group that is waiting: each write with its name, or otherwise. */
  async answer(outcomes?: WriteOutcome[]): Promise<void> {
    const group = await this.group();
    const resolve = this.#answer!;
    this.#answer = undefined;
    resolve(outcomes ?? group);
  }

  async fail(error: unknown): Promise<void> {
    await this.group();
    const reject = this.#fail!;
    this.#answer = undefined;
    reject(error);
  }
}

function named(name: string, bytes = 0): AtomicWrite {
  const key = new TextEncoder().encode(name);
  return {
    checks: [],
    mutations: [{ type: "set", key, value: new Uint8Array(bytes) }],
    sync: true,
  };
}

/** A write of many mutations. */
function large(name: string, mutations: number): AtomicWrite {
  const write = named(name);
  return { ...write, mutations: Array.from({ length: mutations }, () => write.mutations[0]!) };
}

function nameOf(write: AtomicWrite): string {
  return new TextDecoder().decode(write.mutations[0]!.key);
}

function queueOn(engine: ManualEngine, maxGroupSize = 1000): CommitQueue {
  return new CommitQueue(engine as unknown as Engine, maxGroupSize);
}

describe("the commit queue", () => {
  it("puts commits of the same turn in one group", async () => {
    const engine = new ManualEngine();
    const queue = queueOn(engine);
    const commits = ["a", "b", "c"].map((name) => queue.commit(named(name)));
    await engine.answer();
    expect(await Promise.all(commits)).toEqual(["a", "b", "c"]);
    expect(engine.groups).toEqual([["a", "b", "c"]]);
  });

  it("gathers large commits of several turns for an engine that commits at once", async () => {
    const engine = new ManualEngine(true);
    const queue = queueOn(engine);
    const commits: Promise<string | null>[] = [];
    for (const name of ["a", "b", "c"]) {
      commits.push(queue.commit(large(name, 64)));
      await setImmediate();
    }
    await engine.answer();
    expect(await Promise.all(commits)).toEqual(["a", "b", "c"]);
    expect(engine.groups).toEqual([["a", "b", "c"]]);
  });

  it.each([1, 3000])("hands a commit of %i mutations over in its turn", async (mutations) => {
    const engine = new ManualEngine(true);
    const commit = queueOn(engine).commit(large("a", mutations));
    let isNextTurn = false;
    const turn = setImmediate().then(() => {
      isNextTurn = true;
    });
    await engine.group();
    expect(isNextTurn).toBe(false);
    await engine.answer();
    expect(await commit).toBe("a");
    await turn;
  });

  it("gathers the next group while one is written, in the order in which they came", async () => {
    const engine = new ManualEngine();
    const queue = queueOn(engine);
    const first = queue.commit(named("a"));
    await engine.group();
    const second = [queue.commit(named("b")), queue.commit(named("c"))];
    await engine.answer();
    expect(await first).toBe("a");
    const third = queue.commit(named("d"));
    await engine.answer();
    await Promise.all(second);
    await engine.answer();
    expect(await third).toBe("d");
    expect(engine.groups.flat()).toEqual(["a", "b", "c", "d"]);
    expect(engine.groups[0]).toEqual(["a"]);
  });

  it("starts again after it was idle", async () => {
    const engine = new ManualEngine();
    const queue = queueOn(engine);
    for (const name of ["a", "b", "c"]) {
      const commit = queue.commit(named(name));
      await engine.answer();
      expect(await commit).toBe(name);
    }
    expect(engine.groups).toEqual([["a"], ["b"], ["c"]]);
  });

  it("makes no group larger than its limit", async () => {
    const engine = new ManualEngine();
    const queue = queueOn(engine, 2);
    const commits = ["a", "b", "c", "d", "e"].map((name) => queue.commit(named(name)));
    for (let group = 0; group < 3; group++) await engine.answer();
    await Promise.all(commits);
    expect(engine.groups).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  });

  it("calls a group full at eight megabytes, and takes a larger commit alone", async () => {
    const engine = new ManualEngine();
    const queue = queueOn(engine);
    const mebibyte = 1024 * 1024;
    const sizes = { a: 5, b: 5, c: 5, d: 1, e: 12, f: 1 };
    const commits = Object.entries(sizes).map(([name, size]) =>
      queue.commit(named(name, size * mebibyte)),
    );
    for (let group = 0; group < 3; group++) await engine.answer();
    await Promise.all(commits);
    expect(engine.groups).toEqual([["a", "b"], ["c", "d", "e"], ["f"]]);
  });

  it("answers each commit for itself", async () => {
    const engine = new ManualEngine();
    const queue = queueOn(engine);
    const damaged = new CorruptionError("damaged");
    const commits = ["a", "b", "c"].map((name) => queue.commit(named(name)));
    const answers = Promise.allSettled(commits);
    await engine.answer(["1", damaged, null]);
    expect(await answers).toEqual([
      { status: "fulfilled", value: "1" },
      { status: "rejected", reason: damaged },
      { status: "fulfilled", value: null },
    ]);
    const next = queue.commit(named("d"));
    await engine.answer();
    expect(await next).toBe("d");
  });

  it("tries no write after one that failed", async () => {
    const engine = new ManualEngine();
    const queue = queueOn(engine);
    const failing = [queue.commit(named("a")), queue.commit(named("b"))];
    const answers = Promise.allSettled(failing);
    await engine.group();
    const waiting = Promise.allSettled([queue.commit(named("c"))]);
    const cause = new Error("no space left");
    await engine.fail(cause);
    const later = Promise.allSettled([queue.commit(named("d"))]);
    for (const answer of [...(await answers), ...(await waiting), ...(await later)]) {
      expect(answer).toMatchObject({
        status: "rejected",
        reason: { code: "KW_ENGINE_FAILED", cause },
      });
    }
    expect(engine.groups).toEqual([["a", "b"]]);
    await queue.idle();
  });
});

describe("idle", () => {
  it("resolves at once where nothing was committed", async () => {
    await queueOn(new ManualEngine()).idle();
  });

  it("waits for the commits before it, and for none after it", async () => {
    const engine = new ManualEngine();
    const queue = queueOn(engine, 1);
    const events: string[] = [];
    void queue.commit(named("a")).then(() => events.push("a"));
    void queue.commit(named("b")).then(() => events.push("b"));
    const idle = queue.idle().then(() => events.push("idle"));
    void queue.commit(named("c")).then(() => events.push("c"));
    await engine.answer();
    await engine.answer();
    await idle;
    expect(events).toEqual(["a", "b", "idle"]);
    await engine.answer();
  });

  it("resolves also where they failed", async () => {
    const engine = new ManualEngine();
    const queue = queueOn(engine);
    const failed = expect(queue.commit(named("a"))).rejects.toThrow();
    const idle = queue.idle();
    await engine.fail(new Error("no"));
    await idle;
    await failed;
  });
});
