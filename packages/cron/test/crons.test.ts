import { setTimeout as sleep } from "node:timers/promises";
import { openKv as openDenoKv } from "@deno/kv";
import { type Kv, type KvCommitError, type KvCommitResult, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type CronOptions,
  type CronRun,
  cronOf,
  defineCron,
  listCrons,
  type RunCronsOptions,
  removeCron,
  runCrons,
} from "../src/index.js";

const everySecond = "* * * * * *";
/** How long to wait for what is not told, in milliseconds. */
const patience = { timeout: 60_000, interval: 20 };
let kv: Kv;

beforeEach(async () => {
  kv = await openKv();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await kv.close();
});

const cron = (handler: CronOptions["handler"], options: Partial<CronOptions> = {}) =>
  defineCron({ name: "test", schedule: everySecond, handler, ...options });

/** Runs a cron until a promise has resolved. Returns the errors that were reported. */
async function runUntil(
  done: Promise<unknown>,
  definition: ReturnType<typeof cron>,
  options: RunCronsOptions & { readonly in?: Kv } = {},
): Promise<unknown[]> {
  const stop = new AbortController();
  const errors: unknown[] = [];
  const running = runCrons(options.in ?? kv, [definition], {
    onError: (error) => errors.push(error),
    ...options,
    signal: stop.signal,
  });
  await Promise.race([done, running]);
  stop.abort();
  await running;
  return errors;
}

/** A handler that notes its runs, and a promise that resolves with the last of `count` runs. */
function noteRuns(count: number, body: (run: CronRun) => unknown = () => undefined) {
  const runs: CronRun[] = [];
  let resolve!: () => void;
  const done = new Promise<void>((call) => {
    resolve = call;
  });
  const handler = async (run: CronRun) => {
    runs.push(run);
    if (runs.length >= count) resolve();
    await body(run);
  };
  return { runs, done, handler };
}

/** Returns the database with another commit for operations that take a tick. */
function withTakes(commitTake: (commit: () => Promise<KvCommitResult | KvCommitError>) => unknown) {
  return new Proxy(kv, {
    get: (_, name) => {
      const member: unknown = Reflect.get(kv, name);
      if (name !== "atomic") return typeof member === "function" ? member.bind(kv) : member;
      return () => {
        const operation = kv.atomic();
        const commit = operation.commit.bind(operation);
        const set = operation.set.bind(operation);
        let takes = false;
        operation.set = (key, ...rest) => {
          takes ||= (key as unknown[])[3] === "run";
          return set(key, ...rest);
        };
        operation.commit = async () =>
          await (takes ? (commitTake(commit) as ReturnType<typeof commit>) : commit());
        return operation;
      };
    },
  });
}

const failure = { code: "KW_CRON_COMPLETION_FAILED", cron: "test" };

const timesOf = (runs: readonly CronRun[]) => runs.map(({ tick }) => tick.getTime());

describe("a cron", () => {
  it("runs at each tick", async () => {
    const { runs, done, handler } = noteRuns(3);
    expect(await runUntil(done, cron(handler))).toEqual([]);
    const [first, ...others] = timesOf(runs);
    expect(first! % 1000).toBe(0);
    expect(others).toEqual([first! + 1000, first! + 2000]);
    expect(runs.map(({ attempt, name }) => [name, attempt])).toEqual(runs.map(() => ["test", 1]));
    const [status] = await listCrons(kv);
    expect(status).toMatchObject({ name: "test", schedule: everySecond, timeZone: "UTC" });
    expect(status).toMatchObject({
      succeeded: 3,
      failed: 0,
      last: { attempt: 1, tick: runs[2]!.tick },
    });
    expect(status?.run).toBeUndefined();
    await removeCron(kv, "test");
    for await (const { key } of kv.list({ prefix: [] })) expect(key).toBeUndefined();
  });

  // @deno/kv needs the serialization of V8.
  it.skipIf(process.versions.bun !== undefined)("runs on @deno/kv", async () => {
    const deno = (await openDenoKv(":memory:")) as unknown as Kv;
    try {
      const { done, handler } = noteRuns(2, ({ completion }) => {
        // In Deno, an operation that is returned throws, because it is not a promise.
        completion.set(["done"], true);
      });
      expect(await runUntil(done, cron(handler), { in: deno })).toEqual([]);
      expect((await deno.get(["done"])).value).toBe(true);
      expect(await listCrons(deno)).toMatchObject([{ name: "test", succeeded: 2 }]);
    } finally {
      await deno.close();
    }
  });

  it("runs once over several runners, and goes on in another", async () => {
    const { runs, done, handler } = noteRuns(4);
    const stop = new AbortController();
    const others = [1, 2, 3].map(() => runCrons(kv, [cron(handler)], { signal: stop.signal }));
    await runUntil(done, cron(handler));
    stop.abort();
    await Promise.all(others);
    expect(new Set(timesOf(runs)).size).toBe(runs.length);
  });

  it("is retried by the backoff schedule, and then given up", async () => {
    const { runs, done, handler } = noteRuns(4, ({ attempt }) => {
      if (attempt <= 3) throw new Error(`attempt ${attempt}`);
    });
    const errors = await runUntil(done, cron(handler, { backoffSchedule: [1, 5] }));
    expect(runs.slice(0, 4).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1]);
    const [first, second, third, fourth] = timesOf(runs);
    expect([second, third]).toEqual([first, first]);
    expect(fourth).toBeGreaterThan(first!);
    expect(errors.slice(0, 3)).toEqual([1, 2, 3].map((n) => new Error(`attempt ${n}`)));
    expect((await listCrons(kv))[0]).toMatchObject({ failed: 1 });
  });

  it("never overlaps with itself, and skips the ticks that have passed in a run", async () => {
    let running = 0;
    const { runs, done, handler } = noteRuns(2, async () => {
      expect(++running).toBe(1);
      await sleep(1200);
      running--;
    });
    expect(await runUntil(done, cron(handler))).toEqual([]);
    const [first, second] = timesOf(runs);
    expect(second! - first!).toBeGreaterThanOrEqual(2000);
  });

  it("makes up for ticks that have passed in a run, if asked", async () => {
    const { runs, done, handler } = noteRuns(3, ({ tick }) =>
      tick.getTime() === timesOf(runs)[0] ? sleep(2500) : undefined,
    );
    await runUntil(done, cron(handler, { missed: "catchUpAll" }));
    const [first, ...others] = timesOf(runs);
    expect(others.slice(0, 2)).toEqual([first! + 1000, first! + 2000]);
  });

  it.each(["skip", "catchUp", "catchUpAll"] as const)(
    "with %s starts again later",
    async (missed) => {
      const before = noteRuns(1);
      const daily = { schedule: "0 3 * * *", missed };
      // The tick comes when the cron is planned, however long that takes.
      let time = Date.parse("2026-01-01T02:59:59.900Z");
      vi.spyOn(Date, "now").mockImplementation(() => time);
      const isPlanned = async () => expect(await listCrons(kv)).toHaveLength(1);
      const planned = vi.waitFor(isPlanned, patience).then(() => {
        time += 100;
      });
      await runUntil(Promise.all([planned, before.done]), cron(before.handler, daily));
      expect(timesOf(before.runs)).toEqual([Date.parse("2026-01-01T03:00:00Z")]);

      time = Date.parse("2026-01-04T09:00:00Z");
      const after = noteRuns(missed === "catchUpAll" ? 3 : 1);
      const next = new Date("2026-01-05T03:00:00Z");
      const hasSkipped = async () => expect((await listCrons(kv))[0]?.next).toEqual(next);
      const late = missed === "skip" ? vi.waitFor(hasSkipped, patience) : after.done;
      await runUntil(late, cron(after.handler, daily));
      const days = { skip: [], catchUp: [4], catchUpAll: [2, 3, 4] }[missed];
      expect(timesOf(after.runs)).toEqual(
        days.map((day) => Date.parse(`2026-01-0${day}T03:00:00Z`)),
      );
      expect((await listCrons(kv))[0]?.next).toEqual(next);
    },
  );

  it("commits its completion with the end of the run", async () => {
    const { done, handler } = noteRuns(3, ({ attempt, completion, tick }) => {
      completion.set(["ticks", tick.getTime(), attempt], attempt);
      if (attempt === 1) throw new Error("after the write");
    });
    await runUntil(done, cron(handler, { backoffSchedule: [1] }));
    const attempts: unknown[] = [];
    for await (const { value } of kv.list({ prefix: ["ticks"] })) attempts.push(value);
    expect(attempts.length).toBeGreaterThanOrEqual(1);
    expect(new Set(attempts)).toEqual(new Set([2]));
  });

  it("runs again if a check of its completion fails", async () => {
    const { runs, done, handler } = noteRuns(2, ({ attempt, completion }) => {
      completion.set(["done"], attempt);
      if (attempt === 1)
        completion.check({ key: ["absent"], versionstamp: "00000000000000000001" });
    });
    const errors = await runUntil(done, cron(handler, { backoffSchedule: [1] }));
    expect(errors).toMatchObject([{ code: "KW_CRON_COMMIT_REFUSED", cron: "test" }]);
    expect(runs[1]?.attempt).toBe(2);
    expect((await kv.get(["done"])).value).toBe(2);
  });

  it("is retried, and then given up, if its completion can never be committed", async () => {
    const compat = (await openKv(":memory:", { compat: "deno" })) as unknown as Kv;
    try {
      const { runs, done, handler } = noteRuns(3, ({ completion }) => {
        for (let n = 0; n < 2000; n++) completion.set(["n", n], n);
      });
      const options = { backoffSchedule: [1] };
      const errors = await runUntil(done, cron(handler, options), { in: compat });
      expect(errors.slice(0, 2)).toMatchObject([1, 2].map(() => failure));
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
      const [status] = await listCrons(compat);
      expect(status).toMatchObject({ succeeded: 0, failed: 1 });
      expect(status?.last?.error).toContain("could not be committed");
      for await (const { key } of compat.list({ prefix: ["n"] })) expect(key).toBeUndefined();
    } finally {
      await compat.close();
    }
  });

  it("is no interrupted process if the end of its run cannot be stored", async () => {
    let isFailing = false;
    const failing = new Proxy(kv, {
      get: (_, name) => {
        if (name === "get" && isFailing)
          return () => {
            isFailing = false;
            return Promise.reject(new Error("no answer"));
          };
        const member: unknown = Reflect.get(kv, name);
        return typeof member === "function" ? member.bind(kv) : member;
      },
    });
    const { runs, done, handler } = noteRuns(2, ({ attempt }) => {
      isFailing = attempt === 1;
    });
    const errors = await runUntil(done, cron(handler), { in: failing });
    expect(errors).toEqual([new Error("no answer")]);
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it("ends with its signal: the handler gets it, and the tick is left to others", async () => {
    const stop = new AbortController();
    const { done, handler } = noteRuns(1, async ({ signal }) => {
      await sleep(60_000, undefined, { signal });
    });
    const errors: unknown[] = [];
    const running = runCrons(kv, [cron(handler)], {
      signal: stop.signal,
      onError: (error) => errors.push(error),
    });
    await done;
    stop.abort();
    await running;
    expect(errors).toEqual([]);
    const again = noteRuns(1);
    await runUntil(again.done, cron(again.handler));
    expect(again.runs[0]).toMatchObject({ attempt: 1 });
    await expect(runCrons(kv, [cron(handler)], { signal: stop.signal })).resolves.toBeUndefined();
  });

  it("ends when the database is closed", async () => {
    const { done, handler } = noteRuns(1);
    const running = runCrons(kv, [cron(handler)]);
    await done;
    await kv.close();
    await running;
  });

  it("ends when the database is closed, long before its next tick", async () => {
    const running = runCrons(kv, [cron(() => undefined, { schedule: "0 0 1 1 *" })]);
    await vi.waitFor(async () => expect(await listCrons(kv)).toHaveLength(1), patience);
    const begin = performance.now();
    await kv.close();
    await running;
    // It looks at the database once in a minute.
    expect(performance.now() - begin).toBeLessThan(30_000);
  });

  it("follows the schedule of the program that started last", async () => {
    const stop = new AbortController();
    const old = noteRuns(1);
    const running = runCrons(kv, [cron(old.handler)], { signal: stop.signal });
    await old.done;
    const yearly = cron(() => undefined, { schedule: "0 0 1 1 *", timeZone: "Asia/Tokyo" });
    const isPlanned = async () => expect((await listCrons(kv))[0]?.timeZone).toBe("Asia/Tokyo");
    await runUntil(vi.waitFor(isPlanned, patience), yearly);
    await sleep(1200);
    const count = old.runs.length;
    await sleep(1200);
    expect(old.runs.length).toBe(count);
    expect(await listCrons(kv)).toMatchObject([{ schedule: "0 0 1 1 *", timeZone: "Asia/Tokyo" }]);
    stop.abort();
    await running;
  });

  it("keeps its run for longer than its lease", async () => {
    const { runs, done, handler } = noteRuns(1, ({ signal }) => sleep(900, signal.aborted));
    const other = noteRuns(1);
    const stop = new AbortController();
    const watching = runCrons(kv, [cron(other.handler)], { signal: stop.signal, lease: 150 });
    const errors = await runUntil(Promise.race([done, other.done]), cron(handler), { lease: 150 });
    stop.abort();
    await watching;
    expect(errors).toEqual([]);
    expect(runs.length + other.runs.length).toBeLessThanOrEqual(2);
  });

  it("tells a handler that its run is lost, and refuses its commits", async () => {
    const checks: boolean[] = [];
    let resolve!: () => void;
    const lost = new Promise<void>((call) => {
      resolve = call;
    });
    const { handler } = noteRuns(1, async ({ signal, check }) => {
      checks.push((await kv.atomic().check(check).set(["a"], 1).commit()).ok);
      // As another process does, after this one stood still.
      const { value } = await kv.get<object>(check.key);
      await kv.set(check.key, { ...value, runner: "other" });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      checks.push((await kv.atomic().check(check).set(["a"], 2).commit()).ok);
      resolve();
    });
    const errors = await runUntil(lost, cron(handler), { lease: 150 });
    expect(checks).toEqual([true, false]);
    expect(errors).toMatchObject([{ code: "KW_CRON_RUN_LOST", cron: "test" }]);
  });

  it("goes on after the database has failed", async () => {
    let failures = 2;
    const failing = new Proxy(kv, {
      get: (_, name) => {
        if (name === "getMany" && failures-- > 0)
          return () => Promise.reject(new Error("no answer"));
        const member: unknown = Reflect.get(kv, name);
        return typeof member === "function" ? member.bind(kv) : member;
      },
    });
    const { done, handler } = noteRuns(1);
    const errors = await runUntil(done, cron(handler), { in: failing });
    expect(errors).toEqual([new Error("no answer"), new Error("no answer")]);
  });

  it("whose take of a tick was not answered runs it once", async () => {
    let isLost = false;
    const losing = withTakes(async (commit) => {
      const result = await commit();
      if (isLost) return result;
      isLost = true;
      throw new Error("the answer was lost");
    });
    const { runs, done, handler } = noteRuns(2);
    const errors = await runUntil(done, cron(handler, { backoffSchedule: [] }), { in: losing });
    expect(errors).toEqual([new Error("the answer was lost")]);
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(new Set(timesOf(runs)).size).toBe(2);
  });

  it("does not run if another process has taken the tick over before the answer came", async () => {
    const other = noteRuns(1, ({ signal }) => sleep(60_000, undefined, { signal }));
    const stop = new AbortController();
    const running: Promise<void>[] = [];
    const late = withTakes(async (commit) => {
      const result = await commit();
      if (running.length > 0) return result;
      running.push(
        runCrons(kv, [cron(other.handler)], { signal: stop.signal, onError: () => undefined }),
      );
      await other.done;
      return result;
    });
    const { runs, handler } = noteRuns(1);
    let isLost: () => void = () => undefined;
    const lost = new Promise<void>((resolve) => {
      isLost = resolve;
    });
    const errors: unknown[] = [];
    const onError = (error: unknown) => {
      errors.push(error);
      isLost();
    };
    await runUntil(lost, cron(handler), { in: late, lease: 150, onError });
    stop.abort();
    await Promise.all(running);
    expect(errors).toMatchObject([{ code: "KW_CRON_RUN_LOST" }]);
    expect(runs).toEqual([]);
    expect(other.runs).toHaveLength(1);
  });

  it("is not taken over if its lease is renewed at the last moment", async () => {
    const [run, lease] = ["run", "lease"].map((part) => ["__keywright", "cron", "test", part]);
    const stored = { format: 1, tick: Date.now(), attempt: 1, runner: "other", host: "", pid: 1 };
    await kv.set(run!, { ...stored, begunAt: Date.now() });
    await kv.set(lease!, { format: 1, milliseconds: 150 });
    const takes: boolean[] = [];
    const renewed = withTakes(async (commit) => {
      if (takes.length === 0) await kv.set(lease!, { format: 1, milliseconds: 150 });
      const result = await commit();
      takes.push(result.ok);
      return result;
    });
    const { runs, done, handler } = noteRuns(1);
    await runUntil(done, cron(handler), { in: renewed, onError: () => undefined });
    expect(takes.slice(0, 2)).toEqual([false, true]);
    expect(runs[0]).toMatchObject({ attempt: 2, tick: new Date(stored.tick) });
  });

  it("leaves a tick to others if it is told to end while it takes the tick", async () => {
    const stop = new AbortController();
    const { runs, handler } = noteRuns(1, ({ signal }) =>
      sleep(60_000, undefined, { signal }).catch(() => undefined),
    );
    const stopping = withTakes(async (commit) => {
      const result = await commit();
      stop.abort();
      return result;
    });
    await runCrons(stopping, [cron(handler)], { signal: stop.signal });
    expect(runs).toEqual([]);
    const again = noteRuns(1);
    expect(await runUntil(again.done, cron(again.handler))).toEqual([]);
    expect(again.runs[0]).toMatchObject({ attempt: 1 });
  });

  it("goes on if onError rejects", async () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { done, handler } = noteRuns(2, () => {
      throw new Error("it fails");
    });
    const onError = async () => {
      throw new Error("it cannot be reported");
    };
    await runUntil(done, cron(handler, { backoffSchedule: [1] }), { onError });
    expect(written).toHaveBeenCalledWith(expect.any(String), new Error("it cannot be reported"));
  });
});

describe("defineCron", () => {
  it.each<[string, Partial<CronOptions>]>([
    ["name", { name: "a.b" }],
    ["name", { name: "" }],
    ["name", { name: "x".repeat(65) }],
    ["timeZone", { timeZone: "Mars/Base" }],
    ["missed", { missed: "all" as "skip" }],
    ["startWithin", { startWithin: -1 }],
    // A timer is always late, so such a cron would never run.
    ["startWithin", { startWithin: 0 }],
    ["mostMissed", { mostMissed: 0 }],
    ["backoffSchedule", { backoffSchedule: [3_600_001] }],
    ["backoffSchedule", { backoffSchedule: 5 as unknown as number[] }],
    ["handler", { handler: "no function" as unknown as () => void }],
  ])("refuses a wrong %s: %j", (option, options) => {
    expect(() => cron(() => undefined, options)).toThrow(
      expect.objectContaining({ code: "KW_OPTION_INVALID", option, operation: "defineCron" }),
    );
  });

  it("is followed by a call without two crons of the same name", async () => {
    const twice = [cron(() => undefined), cron(() => undefined)];
    await expect(runCrons(kv, twice)).rejects.toMatchObject({ code: "KW_OPTION_INVALID" });
    await expect(runCrons(kv, [], { lease: 5 })).rejects.toMatchObject({ option: "lease" });
  });
});

describe("the function of cronOf", () => {
  it("has the signatures of Deno.cron", async () => {
    const stop = new AbortController();
    const options = { signal: stop.signal };
    let time = Date.parse("2026-01-01T05:59:59.800Z");
    vi.spyOn(Date, "now").mockImplementation(() => time);
    const calls: string[] = [];
    const begun = cronOf(kv);
    const all = [
      begun("Text", "* * * * *", { ...options, backoffSchedule: [10] }, () => {
        calls.push("text");
        if (calls.length < 3) throw new Error("first");
      }),
      begun("Object", { hour: { every: 6 } }, options, async () => {
        calls.push("object");
      }),
    ];
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    await vi.waitFor(async () => expect(await listCrons(kv)).toHaveLength(2), patience);
    time += 200;
    // Retries are due some milliseconds later.
    const passing = setInterval(() => time++, 1);
    await expect.poll(() => calls.length).toBeGreaterThanOrEqual(3);
    clearInterval(passing);
    stop.abort();
    await Promise.all(all);
    expect(calls.toSorted()).toEqual(["object", "text", "text"]);
    expect(await listCrons(kv)).toMatchObject([
      { name: "Object", schedule: "0 */6 * * *", succeeded: 1 },
      { name: "Text", schedule: "* * * * *", succeeded: 1 },
    ]);
  });

  it("refuses what Deno.cron refuses", () => {
    const call = cronOf(kv) as unknown as (...args: unknown[]) => Promise<void>;
    const [text, handler] = ["* * * * *", () => undefined];
    for (const args of [
      [undefined, text, handler],
      ["a", undefined, handler],
      ["a", text],
      ["a", text, handler, handler],
      ["a", text, handler, {}],
      ["a", "* * * * * *", handler],
      ["a", { minute: {} }, handler],
      ["a.b", text, handler],
      ["a", text, { backoffSchedule: [1, 2, 3, 4, 5, 6] }, handler],
    ])
      expect(() => call(...args)).toThrow(TypeError);
    const stop = new AbortController();
    const running = call("a", text, { signal: stop.signal }, handler);
    expect(() => cronOf(kv)("a", text, handler)).toThrow(TypeError);
    stop.abort();
    return running;
  });
});
