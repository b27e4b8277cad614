import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { MemoryEngine } from "../src/engine/memory/memory-engine.js";
import { type Engine, type KvPlace, KvU64, moveKv, openKv, undoMove } from "../src/index.js";
import { EmbeddedKv } from "../src/kv/embedded-kv.js";
import { nameOfPlace } from "../src/kv/move/name-of-place.js";
import { setMoveMark } from "../src/kv/open/marks/move-mark.js";
import { engineOf } from "./engine-of.js";
import { OwnerProcess } from "./owner-process.js";
import { withFolder } from "./temporary-folder.js";

async function stateOf(kv: Pick<EmbeddedKv, "list">): Promise<Map<string, unknown>> {
  const state = new Map<string, unknown>();
  for await (const { key, value } of kv.list({ prefix: [] }))
    if (key[0] !== "__keywright")
      state.set(key.join(), value instanceof KvU64 ? `u64 ${value.value}` : value);
  return state;
}

/** Writes until the database refuses a commit for good. Returns what was acknowledged. */
async function writeUntilMoved(
  kv: EmbeddedKv,
  name: string,
): Promise<{ last: Map<string, unknown>; sum: number; to: string }> {
  const last = new Map<string, unknown>();
  let sum = 0;
  for (let n = 0; ; n++) {
    const key = ["writer", name, n % 50];
    try {
      const operation = kv.atomic().sum(["count"], 1n);
      if (n % 7 === 3) operation.delete(key);
      else if (n % 11 === 0) operation.set(key, { n }, { expireIn: 1e9 });
      else operation.set(key, { n });
      await operation.commit();
      // A database in memory leaves no time for others.
      await setImmediate();
      sum++;
      if (n % 7 === 3) last.delete(key.join());
      else last.set(key.join(), { n });
    } catch (error) {
      const { code, to } = error as { code: string; to: string };
      if (code === "KW_DATABASE_MOVING") {
        await new Promise((resolve) => setTimeout(resolve, 2));
        n--;
        continue;
      }
      if (code !== "KW_DATABASE_MOVED") throw error;
      return { last, sum, to };
    }
  }
}

/** Moves a database while 16 programs write, and compares what they were told with the target. */
async function moveWhileWriting(
  source: EmbeddedKv,
  target: KvPlace,
  reopen: () => Promise<EmbeddedKv>,
  writers: readonly EmbeddedKv[] = [source],
): Promise<void> {
  await Promise.all(Array.from({ length: 2000 }, (_, n) => source.set(["row", n], { n })));
  await source.set(["row", 2000], 1);
  await source.enqueue({ message: 1 }, { delay: 1e7 });
  const running = Array.from({ length: 16 }, (_, n) =>
    writeUntilMoved(writers[n % writers.length]!, `w${n}`),
  );
  const { fencedMilliseconds, commits, compared } = await moveKv(source, target, {
    to: "the place",
  });
  const written = await Promise.all(running);
  const expected = new Map<string, unknown>();
  for (let n = 0; n < 2000; n++) expected.set(`row,${n}`, { n });
  expected.set("row,2000", 1);
  let sum = 0;
  for (const each of written) {
    expect(each.to).toBe("the place");
    for (const [key, value] of each.last) expected.set(key, value);
    sum += each.sum;
  }
  expected.set("count", `u64 ${sum}`);
  expect(commits).toBeGreaterThan(0);
  expect(compared).toBeGreaterThan(2000);
  expect(fencedMilliseconds).toBeGreaterThan(0);
  const moved = await reopen();
  expect(await stateOf(moved)).toEqual(expected);
  await moved.set(["after"], 1);
  await moved.close();
}

const engines: Readonly<Record<string, () => Promise<Engine>>> = {
  memory: async () => new MemoryEngine(),
  "an engine that does not log": () => engineOf({ hasViews: true }),
  "a shared engine": () => engineOf({ hasViews: true, isShared: true }),
};

describe("moveKv while 16 programs write", () => {
  for (const [from, openFrom] of Object.entries(engines)) {
    for (const [to, openTo] of Object.entries(engines)) {
      it(`moves ${from} to ${to} without losing a commit`, async () => {
        const source = await openKv(await openFrom(), { log: {} });
        const target = await openTo();
        target.close = async () => undefined;
        await moveWhileWriting(source, target, () => openKv(target));
        await source.close();
      });
    }
  }

  it("ends although the programs write faster than the target stores", async () => {
    const source = await openKv(":memory:", { log: {} });
    const target = new MemoryEngine();
    const commit = target.commit.bind(target);
    target.commit = async (writes) => {
      // As on an engine that stores ten commits in a millisecond.
      await sleep(writes.length / 10);
      return await commit(writes);
    };
    target.close = async () => undefined;
    await moveWhileWriting(source, target, () => openKv(target));
    await source.close();
  });

  it("moves a LevelDB folder, to whose owner programs are attached", async () => {
    await withFolder(async (folder) => {
      const owner = new OwnerProcess();
      try {
        await owner.open(`${folder}/old`, { log: {} });
        const source = await openKv(`${folder}/old`);
        expect(source.attached).toBeDefined();
        await moveWhileWriting(source, `${folder}/new`, () => openKv(`${folder}/new`));
        await expect(source.get(["row", 1])).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
        await expect(openKv(`${folder}/old`)).rejects.toMatchObject({
          code: "KW_DATABASE_MOVED",
          to: "the place",
        });
        await source.close();
      } finally {
        await owner.kill();
      }
      await expect(openKv(`${folder}/old`)).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
    });
  });
});

describe("moveKv", () => {
  it("needs a log, and leaves a source without one as it was", async () => {
    await using source = await openKv();
    await using target = await openKv();
    await expect(moveKv(source, target)).rejects.toMatchObject({ code: "KW_LOG_OFF" });
    await source.set(["a"], 1);
    await expect(moveKv(source, source)).rejects.toMatchObject({ code: "KW_OPTION_INVALID" });
  });

  it("needs an empty target", async () => {
    await using source = await openKv(":memory:", { log: {} });
    await using target = await openKv();
    await target.set(["a"], 1);
    await expect(moveKv(source, target)).rejects.toMatchObject({ code: "KW_MOVE_FAILED" });
    await source.set(["b"], 1);
    expect((await target.get(["a"])).value).toBe(1);
  });

  it("that is aborted leaves the source in charge, at each point", async () => {
    for (const phase of ["copying", "catching up", "switching"]) {
      await using source = await openKv(":memory:", { log: {} });
      for (let n = 0; n < 10_001; n++) void source.set(["row", n], n);
      await source.set(["a"], 1);
      const target = new MemoryEngine();
      target.close = async () => undefined;
      const controller = new AbortController();
      const moving = moveKv(source, target, {
        signal: controller.signal,
        onProgress: (progress) => progress.phase === phase && controller.abort(new Error(phase)),
      });
      await expect(moving).rejects.toThrow(phase);
      await source.set(["b"], 2);
      await expect(openKv(target)).rejects.toMatchObject({ code: "KW_MOVE_UNFINISHED" });
      const { resumed } = await moveKv(source, target);
      expect(resumed).toBe(phase !== "copying");
      const moved = await openKv(target);
      expect((await moved.get(["b"])).value).toBe(2);
      expect((await stateOf(moved)).size).toBe(10_003);
      await moved.close();
    }
  });

  it("writes at most a mebibyte of commits together", async () => {
    await using source = await openKv(":memory:", { log: {} });
    const target = new MemoryEngine();
    const commit = target.commit.bind(target);
    let written: Promise<unknown> | undefined;
    const sizes: number[] = [];
    target.commit = async (writes) => {
      const isMark = writes.some(({ mutations }) =>
        mutations.some(({ key }) => Buffer.from(key).includes("restore")),
      );
      // The state that is copied first was opened before the mark was made.
      if (isMark)
        written ??= Promise.all(
          Array.from({ length: 100 }, (_, n) => source.set(["row", n], new Uint8Array(100_000))),
        );
      await written;
      for (const { mutations } of writes) {
        const values = mutations.map((each) => (each.type === "set" ? each.value.length : 0));
        sizes.push(values.reduce((sum, size) => sum + size, 0));
      }
      return await commit(writes);
    };
    const { commits } = await moveKv(source, target);
    expect(commits).toBeGreaterThanOrEqual(100);
    const large = sizes.filter((size) => size >= 100_000);
    expect(large.length).toBeLessThan(20);
    expect(Math.max(...large)).toBeLessThanOrEqual(2 ** 20);
  });

  it("keeps the order of commits, expiry and messages", async () => {
    await using source = await openKv(":memory:", { log: {} });
    await source.set(["b"], 1);
    await source.set(["a"], 1, { expireIn: 1e7 });
    await source.enqueue("message", { delay: 200 });
    const target = new MemoryEngine();
    target.close = async () => undefined;
    const { entries } = await moveKv(source, target);
    expect(entries).toBe(3);
    await using moved = await openKv(target);
    const [a, b] = await moved.getMany([["a"], ["b"]]);
    expect(a.versionstamp! > b.versionstamp!).toBe(true);
    const received = await new Promise((resolve) => void moved.listenQueue(resolve));
    expect(received).toBe("message");
  });

  it("ends the streams and listeners of the source, and its followers get every commit", async () => {
    await using source = await openKv(":memory:", { log: {} });
    const listening = source.listenQueue(() => undefined);
    const refused = expect(listening).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const { changes } of source.changes({ prefix: ["a"] }))
        for (const { after } of changes) seen.push(after?.value);
    })();
    const ended = expect(following).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
    const reader = source.watch([["a"]]).getReader();
    await reader.read();
    await source.set(["a", 1], 1);
    await moveKv(source, new MemoryEngine());
    await refused;
    await ended;
    expect(seen).toEqual([1]);
    expect((await reader.read()).done).toBe(true);
    await expect(source.get(["a"])).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
    expect(() => source.list({ prefix: [] })).toThrow("was moved");
  });

  it("ends a watch in the mode of Deno KV, and refuses reads and commits", async () => {
    await using source = await openKv(":memory:", { compat: "deno", log: {} });
    await source.set(["a"], 1);
    const reader = source.watch([["a"]]).getReader();
    await reader.read();
    const next = reader.read();
    const target = new MemoryEngine();
    target.close = async () => undefined;
    await moveKv(source, target);
    expect((await next).done).toBe(true);
    const moved = { code: "KW_DATABASE_MOVED" };
    await expect(source.get(["a"])).rejects.toMatchObject(moved);
    await expect(source.set(["a"], 2)).rejects.toMatchObject(moved);
    await using opened = await openKv(target, { compat: "deno" });
    expect((await opened.get(["a"])).value).toBe(1);
  });

  it.each([-15_000, 3_600_000])(
    "refuses commits for 10 seconds, also with a clock that differs by %i ms",
    async (difference) => {
      await using source = await openKv(":memory:", { log: {} });
      const time = Date.now() + 10_000 + difference;
      const mark = setMoveMark({
        id: "of a killed program",
        to: "elsewhere",
        state: "moving",
        time,
      });
      const { commit } = EmbeddedKv.sharedOf(source, "test");
      vi.useFakeTimers({ toFake: ["performance"] });
      await commit({ checks: [], mutations: [mark], sync: false });
      try {
        vi.advanceTimersByTime(9_000);
        await expect(source.set(["a"], 1)).rejects.toMatchObject({ code: "KW_DATABASE_MOVING" });
        vi.advanceTimersByTime(2_000);
        await source.set(["a"], 1);
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it("that waits for the end of another one can be aborted", async () => {
    await using source = await openKv(":memory:", { log: {} });
    const time = Date.now() + 10_000;
    const mark = setMoveMark({ id: "of a killed program", to: "elsewhere", state: "moving", time });
    const { commit } = EmbeddedKv.sharedOf(source, "test");
    await commit({ checks: [], mutations: [mark], sync: false });
    const aborting = new AbortController();
    const moving = moveKv(source, ":memory:", { signal: aborting.signal });
    setTimeout(() => aborting.abort(new Error("enough")), 150);
    await expect(moving).rejects.toThrow("enough");
  });

  it("ends a consumer whose handler cannot handle a commit", async () => {
    const kv = await openKv(":memory:", { log: {} });
    await kv.set(["a"], 1);
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const handler = () => {
      begin();
      throw new Error("not now");
    };
    const options = { lease: 1e9, retryDelay: () => 1, onError: () => undefined };
    const consuming = kv.consume("copy", handler, options);
    const ended = expect(consuming).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
    await begun;
    await moveKv(kv, ":memory:", { to: "the place" });
    await ended;
    await kv.close();
  });

  it("names a server without the user, the password and the parameters of its URL", async () => {
    await using source = await openKv(":memory:", { log: {} });
    const url = "http://ada:secret@127.0.0.1:1/data?token=secret";
    const opening = moveKv(source, url).catch((error: unknown) => error);
    expect(String(await opening)).not.toContain("secret");
    expect(nameOfPlace(url)).toBe("http://127.0.0.1:1/data");
    expect(nameOfPlace(source)).toBe("another database");
    const invalid = moveKv(source, "http://ada:secret@a b/").catch((error: unknown) => error);
    expect(inspect(await invalid)).not.toContain("secret");
  });
});

describe("undoMove", () => {
  it("makes a moved database accept commits again", async () => {
    const engine = new MemoryEngine();
    engine.close = async () => undefined;
    const source = await openKv(engine, { log: {} });
    await source.set(["a"], 1);
    expect(await undoMove(source)).toBe(false);
    await moveKv(source, new MemoryEngine(), { to: "elsewhere" });
    await source.close();
    await expect(openKv(engine)).rejects.toMatchObject({
      code: "KW_DATABASE_MOVED",
      to: "elsewhere",
    });
    const again = await openKv(engine, { allowMoved: true });
    expect((await again.get(["a"])).value).toBe(1);
    await expect(again.set(["a"], 2)).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
    expect(await undoMove(again)).toBe(true);
    await again.set(["a"], 2);
    await again.close();
    await using reopened = await openKv(engine);
    expect((await reopened.get(["a"])).value).toBe(2);
  });
});
