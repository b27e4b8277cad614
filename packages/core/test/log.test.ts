import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { logRecords, logStateKey } from "../src/engine/log/log-keys.js";
import { MemoryEngine } from "../src/engine/memory/memory-engine.js";
import { setLog } from "../src/kv/backup/kept-log.js";
import { EmbeddedKv } from "../src/kv/embedded-kv.js";
import { encodeLogState } from "../src/kv/log/log-state.js";
import type { KvChangesOptions } from "../src/kv/log/read-changes.js";
import { openKv } from "../src/kv/open-kv.js";
import { engineOf } from "./engine-of.js";
import { OwnerProcess } from "./owner-process.js";
import { withFolder } from "./temporary-folder.js";

const minute = 60_000;
/** Milliseconds until a wait fails, also on a busy machine. */
const patience = 60_000;

afterEach(() => void vi.useRealTimers());

describe("the option log", () => {
  const refused = [
    [{ keep: "7" }, "log.keep"],
    [{ keep: "7 fortnights" }, "log.keep"],
    [{ keep: "0 days" }, "log.keep"],
    [{ maxBytes: 0 }, "log.maxBytes"],
    [{ days: 7 }, "log.days"],
    ["7 days", "log"],
    [null, "log"],
  ] as const;
  it.each(refused)("refuses %j", async (log, option) => {
    const options = { log } as unknown as Parameters<typeof openKv>[1];
    await expect(openKv(":memory:", options)).rejects.toMatchObject({
      code: "KW_OPTION_INVALID",
      option,
    });
  });

  it("is refused with readOnly", async () => {
    await withFolder(async (folder) => {
      await (await openKv(folder)).close();
      const opening = openKv(folder, { readOnly: true, log: {} });
      await expect(opening).rejects.toMatchObject({ code: "KW_OPTION_INVALID", option: "log" });
    });
  });

  it("stays in the database until it is changed", async () => {
    await withFolder(async (folder) => {
      const first = await openKv(folder, { log: { keep: "36 hours" } });
      await first.set(["a"], 1);
      await first.close();
      const second = await openKv(folder);
      await second.set(["b"], 1);
      await second.close();
      const third = await openKv(folder, { log: { keep: "2 days", maxBytes: 1e6 } });
      expect(await keysOf(third)).toEqual(["a", "b"]);
      await third.close();
    });
  });
});

describe("the log loses its oldest commits", () => {
  it("that are older than its lifetime", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    const kv = await openKv(":memory:", { log: { keep: "10 minutes" } });
    const { versionstamp } = await kv.set(["old"], 1);
    vi.setSystemTime(Date.now() + 9 * minute);
    await kv.set(["new"], 1);
    await vi.advanceTimersByTimeAsync(minute);
    expect(await keysOf(kv)).toEqual(["old", "new"]);
    await vi.advanceTimersByTimeAsync(minute);
    await vi.waitFor(async () => expect(await keysOf(kv)).toEqual(["new"]), patience);
    expect(await keysOf(kv, { after: versionstamp })).toEqual(["new"]);
    const before = versionstamp.replace(/.{5}$/, "00000");
    await expect(keysOf(kv, { after: before })).rejects.toMatchObject({
      code: "KW_LOG_TRUNCATED",
      after: before,
      since: versionstamp,
    });
    await kv.close();
  });

  it("also if each program ends before a minute", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    await withFolder(async (folder) => {
      const first = await openKv(folder, { log: { keep: "10 minutes" } });
      await first.set(["old"], 1);
      await first.close();
      vi.setSystemTime(Date.now() + 11 * minute);
      const second = await openKv(folder);
      await second.set(["new"], 1);
      await vi.waitFor(async () => expect(await keysOf(second)).toEqual(["new"]), patience);
      await second.close();
    });
  });

  it.each([3, 450])(
    "also those of a time when a clock was ahead, if there are %i",
    async (count) => {
      vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
      const kv = await openKv(":memory:", { log: { keep: "10 minutes" } });
      const now = Date.now();
      vi.setSystemTime(now + 365 * 24 * 60 * minute);
      for (let n = 0; n < count; n++) await kv.set(["ahead", n], 1);
      vi.setSystemTime(now);
      await kv.set(["old"], 1);
      vi.setSystemTime(now + 9 * minute);
      await kv.set(["new"], 1);
      await vi.advanceTimersByTimeAsync(minute);
      expect((await keysOf(kv)).length).toBe(count + 2);
      await vi.advanceTimersByTimeAsync(minute);
      await vi.waitFor(async () => expect(await keysOf(kv)).toEqual(["new"]), patience);
      await kv.close();
    },
  );

  it("but none because a clock was behind", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    const kv = await openKv(":memory:", { log: { keep: "10 minutes" } });
    const now = Date.now();
    await kv.set(["first"], 1);
    vi.setSystemTime(now - 24 * 60 * minute);
    await kv.set(["behind"], 1);
    vi.setSystemTime(now);
    await kv.set(["last"], 1);
    for (let n = 0; n < 3; n++) {
      await vi.advanceTimersByTimeAsync(minute);
      await setImmediate();
    }
    expect(await keysOf(kv)).toEqual(["first", "behind", "last"]);
    await kv.close();
  });

  it("if it has more bytes than it may have, also those of earlier runs", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await withFolder(async (folder) => {
      const value = "x".repeat(1000);
      const first = await openKv(folder, { log: { maxBytes: 10_500 } });
      for (let n = 0; n < 6; n++) await first.set(["a", n], value);
      await vi.advanceTimersByTimeAsync(minute);
      expect((await keysOf(first)).length).toBe(6);
      await first.close();
      const second = await openKv(folder);
      for (let n = 6; n < 14; n++) await second.set(["a", n], value);
      await vi.advanceTimersByTimeAsync(minute);
      await vi.waitFor(async () => {
        expect(await keysOf(second)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13].map((n) => `a,${n}`));
      }, patience);
      await second.close();
    });
  });
});

describe("the end of the log", () => {
  it("that fails leaves the log as it was", async () => {
    const engine = new MemoryEngine();
    const kv = await openKv(engine, { log: {} });
    const commit = vi.spyOn(engine, "commit").mockImplementationOnce(async (writes) => {
      return await Promise.resolve(writes.map(() => new Error("no space")));
    });
    await expect(setLog(kv, false)).rejects.toThrow("no space");
    expect(commit).toHaveBeenCalledOnce();
    await kv.set(["a"], 1);
    expect(await keysOf(kv)).toEqual(["a"]);
    await kv.close();
  });

  it("that was interrupted removes its records the next time", async () => {
    const engine = new MemoryEngine();
    const kv = await openKv(engine, { log: {} });
    for (let n = 0; n < 500; n++) await kv.set(["a"], n);
    const commit = engine.commit.bind(engine);
    vi.spyOn(engine, "commit").mockImplementation(async (writes) => {
      const isRemoval = writes.some(({ mutations }) => mutations[0]!.key[1] === 0x08);
      return isRemoval ? writes.map(() => new Error("killed")) : await commit(writes);
    });
    await expect(setLog(kv, false)).rejects.toThrow("killed");
    vi.restoreAllMocks();
    const records = () => engine.getRange({ range: logRecords, limit: 1000, reverse: false });
    expect((await records()).length).toBe(500);
    await setLog(kv, false);
    expect(await records()).toEqual([]);
    await kv.close();
  });

  it("ends those who wait for its next commit", async () => {
    const kv = await openKv(":memory:", { log: {} });
    const next = kv.changes().next();
    const ended = expect(next).rejects.toMatchObject({ code: "KW_LOG_OFF" });
    await setImmediate();
    await setLog(kv, false);
    await ended;
    await kv.close();
  });
});

describe("kv.changes", () => {
  it("of an engine without views notices commits that were removed between two reads", async () => {
    const engine = await engineOf();
    const kv = await openKv(engine, { log: {} });
    const { versionstamp } = await kv.set(["a"], 1);
    await kv.set(["b"], 2);
    await kv.set(["c"], 3);
    const shorten = async () => {
      const shared = EmbeddedKv.sharedOf(kv, "test");
      const [, second] = await engine.getRange({ range: logRecords, limit: 2, reverse: false });
      const state = { keepMilliseconds: 1, maxBytes: undefined, since: second!.versionstamp };
      const value = encodeLogState(state);
      const mutations = [
        { type: "set", key: logStateKey, value },
        { type: "delete", key: second!.key },
      ] as const;
      await shared.commit({ checks: [], mutations, sync: false });
    };
    const getRange = engine.getRange.bind(engine);
    engine.getRange = async (read) => {
      engine.getRange = getRange;
      await shorten();
      return await getRange(read);
    };
    const reading = keysOf(kv, { after: versionstamp });
    await expect(reading).rejects.toMatchObject({ code: "KW_LOG_TRUNCATED" });
    await kv.close();
  });

  it("and earlier states have entries and no messages of the queue, also in compat mode", async () => {
    await withFolder(async (folder) => {
      const kv = await openKv(folder, { compat: "deno", log: {} });
      const { versionstamp } = await kv.set(["a"], 1);
      await kv.enqueue("later", { delay: 1e6 });
      await kv.delete(["a"]);
      expect(await keysOf(kv)).toEqual(["a", "a"]);
      const past = (await kv.openPast(versionstamp))!;
      const entries: unknown[] = [];
      for await (const { key } of past.list({ prefix: [] })) entries.push(key);
      expect(entries).toEqual([["a"]]);
      past.close();
      await kv.close();
    });
  });

  it("refuses a versionstamp that the database has not reached, as after a restore", async () => {
    await withFolder(async (folder) => {
      const kv = await openKv(folder, { log: {} });
      const { versionstamp } = await kv.set(["a"], 1);
      (await kv.openPast(versionstamp))!.close();
      const view = (await kv.openView())!;
      for (const after of [versionstamp, view.versionstamp!])
        expect(await keysOf(kv, { after })).toEqual([]);
      view.close();
      const after = versionstamp.replace(/^.{16}/, "0000000000001000");
      await expect(kv.openPast(after)).rejects.toMatchObject({ code: "KW_LOG_TRUNCATED" });
      for (const live of [true, false])
        await expect(kv.changes({ after, live }).next()).rejects.toMatchObject({
          code: "KW_LOG_TRUNCATED",
          message: expect.stringContaining("has made no commit") as string,
        });
      await kv.close();
      const reopened = await openKv(folder);
      expect(await keysOf(reopened, { after: versionstamp })).toEqual([]);
      await reopened.close();
    });
  });

  it("ends when the database is closed, and rejects when its signal aborts", async () => {
    const kv = await openKv(":memory:", { log: {} });
    const other = await openKv(":memory:", { log: {} });
    const commits = kv.changes();
    const next = commits.next();
    await kv.close();
    expect(await next).toEqual({ done: true, value: undefined });
    const waiting = other.changes({ signal: AbortSignal.timeout(5) }).next();
    await expect(waiting).rejects.toMatchObject({ name: "TimeoutError" });
    await other.close();
    expect(() => other.changes()).toThrow(/closed/);
  });

  it("refuses a versionstamp and a prefix that are not valid", async () => {
    const kv = await openKv(":memory:", { log: {} });
    await expect(kv.changes({ after: "7" }).next()).rejects.toMatchObject({
      code: "KW_VERSIONSTAMP_INVALID",
    });
    expect(() => kv.changes({ prefix: [null] as never })).toThrow(/KW_|part/);
    await kv.close();
  });

  it("has the commits of attached processes, and is read by them", async () => {
    await withFolder(async (folder) => {
      const owner = new OwnerProcess();
      await owner.open(folder, { log: { keep: "7 days" } });
      const kv = await openKv(folder, { log: { keep: "7 days" } });
      expect(kv.attached?.pid).toBe(owner.pid);
      await kv.set(["a"], 1);
      await kv.atomic().sum(["n"], 2n).sum(["n"], 3n).context!({ by: "ada" }).commit();
      const contexts: unknown[] = [];
      for await (const commit of kv.changes({ live: false })) contexts.push(commit.context);
      expect(contexts).toEqual([undefined, { by: "ada" }]);
      expect(await keysOf(kv)).toEqual(["a", "n"]);
      await expect(openKv(folder, { log: false })).rejects.toMatchObject({
        code: "KW_LOG_UNSUPPORTED",
      });
      await kv.close();
      await owner.kill();
    });
  });
});

describe("kv.consume", () => {
  it("goes on if onError is an async function that fails", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const ended = new AbortController();
    let attempts = 0;
    const handle = () => {
      if (++attempts < 3) throw new Error("not now");
      ended.abort();
    };
    const onError = async () => {
      throw new Error("the pager is down");
    };
    const consuming = kv.consume("a", handle, {
      onError,
      retryDelay: () => 1,
      signal: ended.signal,
    });
    await kv.set(["a"], 1);
    await consuming.catch(() => undefined);
    expect(attempts).toBe(3);
    expect(printed).toHaveBeenCalledTimes(2);
    printed.mockRestore();
  });
});

describe("kv.consumers", () => {
  it("counts the pending commits, also large ones", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const ended = new AbortController();
    const consuming = kv.consume("slow", () => undefined, { from: "now", signal: ended.signal });
    await vi.waitFor(async () => expect(await kv.consumers()).toHaveLength(1), patience);
    ended.abort();
    await consuming;
    const value = new Uint8Array(100_000);
    for (let n = 0; n < 200; n++) await kv.set(["a"], value);
    expect((await kv.consumers())[0]?.pending).toBe(200);
    for (let n = 0; n < 900; n++) await kv.set(["b"], n);
    expect((await kv.consumers())[0]?.pending).toBe(1000);
  });
});

async function keysOf(kv: EmbeddedKv, options: KvChangesOptions = {}): Promise<string[]> {
  const keys: string[] = [];
  for await (const { changes } of kv.changes({ live: false, ...options }))
    for (const { key } of changes) keys.push(key.join());
  return keys;
}
