import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { backup, restore, verifyBackup } from "../src/backup.js";
import type { ReadView } from "../src/engine/engine.js";
import { MemoryEngine } from "../src/engine/memory/memory-engine.js";
import { type EmbeddedKv, moveKv, openKv } from "../src/index.js";
import { readCatalog, readManifest } from "../src/kv/backup/format/backup-catalog.js";
import { SmallObjects } from "../src/kv/backup/write/small-objects.js";
import { addCommits } from "../src/kv/backup/write/write-log.js";
import { EmbeddedKv as EmbeddedKvClass } from "../src/kv/embedded-kv.js";
import { MemorySink } from "./backup-sink.js";

/** Milliseconds until a wait fails, also on a busy machine. */
const patience = 60_000;

async function valuesIn(kv: Pick<EmbeddedKv, "list">): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const { value } of kv.list({ prefix: ["a"] })) values.push(value);
  return values;
}

async function restoredValues(
  sink: MemorySink,
  options: Parameters<typeof restore>[2] = {},
): Promise<unknown[]> {
  await using kv = await openKv();
  await restore(sink, kv, options);
  return await valuesIn(kv);
}

/** Adds one object for each of some commits, as a backup does that follows the database. */
async function follow(kv: EmbeddedKv, sink: MemorySink, commits: number): Promise<void> {
  const { name } = (await readCatalog(sink)).generations.at(-1)!;
  const { log, position } = await readManifest(sink, name, undefined);
  const { engine } = EmbeddedKvClass.sharedOf(kv, "test");
  const small = new SmallObjects(sink, undefined);
  let at = { generation: name, log: log!, position: position! };
  for (let n = 0; n < commits; n++) {
    await kv.set(["a", n], n);
    const options = { key: undefined, isCovering: false };
    const added = await addCommits(engine, sink, at, options);
    at = { ...at, position: added.position };
    await small.add(name, added.objects);
  }
}

function sinkOf(objects: ReadonlyMap<string, Uint8Array>): MemorySink {
  const sink = new MemorySink();
  replaceObjects(sink, objects);
  return sink;
}

function replaceObjects(sink: MemorySink, objects: ReadonlyMap<string, Uint8Array>): void {
  sink.objects.clear();
  for (const [name, bytes] of objects) sink.objects.set(name, bytes);
}

describe("a backup that follows a database", () => {
  it("merges its small objects, and every moment can still be restored", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    await follow(kv, sink, 600);
    // 2 × 256 + 5 × 16 + 8 × 1 commits.
    expect(sink.named("/log-")).toHaveLength(2 + 5 + 8);
    expect(await restoredValues(sink)).toHaveLength(600);
    const { versionstamp } = await kv.get(["a", 299]);
    expect(await restoredValues(sink, { at: versionstamp! })).toHaveLength(300);
    expect((await verifyBackup(sink)).entries).toBe(600);
  });

  it("can be restored while it merges", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    await follow(kv, sink, 15);
    const { name } = (await readCatalog(sink)).generations.at(-1)!;
    const get = sink.get.bind(sink);
    let reads = 0;
    sink.get = async (each) => {
      // After the third object of commits was read, all are merged.
      if (each.includes("/log-") && ++reads === 4) {
        const merging = new MemorySink();
        for (const [key, bytes] of sink.objects) merging.objects.set(key, bytes);
        for (const log of sink.named("/log-")) sink.objects.delete(log);
        sink.get = get;
        const from = { ...(await readManifest(sink, name, undefined)) };
        const at = { generation: name, log: from.log!, position: from.position! };
        const { engine } = EmbeddedKvClass.sharedOf(kv, "test");
        await addCommits(engine, sink, at, { key: undefined, isCovering: false });
      }
      return await get(each);
    };
    expect(await restoredValues(sink)).toHaveLength(15);
    expect(sink.named("/log-")).toHaveLength(1);
  });

  it("can be restored from each state of an interrupted merge, and while others merge", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    /** What the sink has after each of its changes. */
    const states: Map<string, Uint8Array>[] = [];
    for (const call of ["put", "delete"] as const) {
      const original = sink[call].bind(sink) as (name: string, bytes?: Uint8Array) => Promise<void>;
      sink[call] = async (name: string, bytes?: Uint8Array) => {
        await original(name, bytes);
        if (name.includes("/log-")) states.push(new Map(sink.objects));
      };
    }
    await follow(kv, sink, 16);
    const merge = states.slice(15);
    expect(merge).toHaveLength(18);
    for (const left of merge) {
      const interrupted = sinkOf(left);
      expect(await restoredValues(interrupted)).toHaveLength(16);
      expect((await verifyBackup(interrupted)).entries).toBe(16);
    }
    for (let read = 1; read <= 16; read++)
      for (const state of [2, 9, 17]) {
        const merging = sinkOf(merge[0]!);
        const get = merging.get.bind(merging);
        let reads = 0;
        merging.get = async (name) => {
          if (name.includes("/log-") && ++reads === read) replaceObjects(merging, merge[state]!);
          return await get(name);
        };
        expect(await restoredValues(merging)).toHaveLength(16);
      }
  });

  it("can be restored if a listing has nothing of what is being merged", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    await follow(kv, sink, 17);
    const [merged] = sink.named("/log-");
    const list = sink.list.bind(sink);
    let isFirst = true;
    sink.list = async (prefix) => {
      const names = await list(prefix);
      if (!isFirst) return names;
      isFirst = false;
      return names.filter((name) => name !== merged);
    };
    expect(await restoredValues(sink)).toHaveLength(17);
  });

  it("does not merge objects between which another program has added some", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    const { name } = (await readCatalog(sink)).generations.at(-1)!;
    const { log, position } = await readManifest(sink, name, undefined);
    const { engine } = EmbeddedKvClass.sharedOf(kv, "test");
    const small = new SmallObjects(sink, undefined);
    let at = { generation: name, log: log!, position: position! };
    for (let n = 0; n < 40; n++) {
      await kv.set(["a", n], n);
      const added = await addCommits(engine, sink, at, { key: undefined, isCovering: false });
      at = { ...at, position: added.position };
      if (n % 10 !== 9) await small.add(name, added.objects);
    }
    expect(await restoredValues(sink)).toHaveLength(40);
    await verifyBackup(sink);
  });

  it("leaves objects as they are if one of them is damaged", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    await follow(kv, sink, 10);
    const damaged = sink.named("/log-")[4]!;
    sink.objects.get(damaged)![100]! ^= 1;
    await expect(restoredValues(sink)).rejects.toMatchObject({ code: "KW_BACKUP_DAMAGED" });
    expect(await restoredValues(sink, { partial: true })).toHaveLength(4);
  });
});

describe("the last object of commits", () => {
  it("is missed if it is lost", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    for (const n of [0, 1]) {
      await kv.set(["a", n], n);
      await backup(kv, sink, { incremental: true });
    }
    const [first, last] = sink.named("/log-");
    const { versionstamp } = await kv.get(["a", 0]);
    sink.objects.delete(last!);
    await expect(restoredValues(sink)).rejects.toMatchObject({
      code: "KW_BACKUP_DAMAGED",
      message: expect.stringContaining("are missing") as string,
    });
    expect(await restoredValues(sink, { at: versionstamp! })).toEqual([0]);
    expect(await restoredValues(sink, { partial: true })).toEqual([0]);
    // The next backup adds the commits again, which the log still has.
    await backup(kv, sink, { incremental: true });
    expect(await restoredValues(sink)).toEqual([0, 1]);
    sink.objects.delete(first!);
    await expect(restoredValues(sink)).rejects.toMatchObject({ code: "KW_BACKUP_DAMAGED" });
  });
});

describe("commits that are added", () => {
  it("are those that the log had at the beginning, although programs go on", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    const value = new Uint8Array(20_000);
    const commit = async () => {
      for (let n = 0; n < 300; n++) await kv.set(["a", n], value);
    };
    await commit();
    const put = sink.put.bind(sink);
    sink.put = async (name, bytes) => {
      if (sink.named("/log-").length > 50) throw new Error("it does not end");
      await put(name, bytes);
      if (name.includes("/log-")) await commit();
    };
    const { commits } = await backup(kv, sink, { incremental: true });
    expect(commits).toBeGreaterThanOrEqual(300);
    expect(await restoredValues(sink)).toHaveLength(300);
  });

  it("are not added further when the signal aborts", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    const value = new Uint8Array(20_000);
    for (let n = 0; n < 600; n++) await kv.set(["a", n], value);
    const controller = new AbortController();
    const reason = new Error("stopped");
    const put = sink.put.bind(sink);
    sink.put = async (name, bytes) => {
      await put(name, bytes);
      controller.abort(reason);
    };
    const { signal } = controller;
    await expect(backup(kv, sink, { incremental: true, signal })).rejects.toBe(reason);
    expect(sink.named("/log-")).toHaveLength(1);
    sink.put = put;
    await backup(kv, sink, { incremental: true });
    expect(await restoredValues(sink)).toHaveLength(600);
  });

  it("do not have the moments of later commits that are not there yet", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    try {
      await using kv = await openKv(":memory:", { log: {} });
      const sink = new MemorySink();
      await backup(kv, sink);
      const value = new Uint8Array(20_000);
      for (let n = 0; n < 300; n++) {
        vi.setSystemTime(1_000_000 + n);
        await kv.set(["a", n], value);
      }
      vi.setSystemTime(2_000_000);
      const put = sink.put.bind(sink);
      const killed = new Error("killed");
      sink.put = async (name, bytes) => {
        await put(name, bytes);
        throw killed;
      };
      await expect(backup(kv, sink, { incremental: true })).rejects.toBe(killed);
      const later = restoredValues(sink, { at: new Date(1_500_000) });
      await expect(later).rejects.toMatchObject({ code: "KW_BACKUP_MOMENT" });
      expect(await restoredValues(sink, { at: new Date(1_000_009) })).toHaveLength(10);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a backup", () => {
  it("that is aborted rejects with the reason, when nothing is being put any longer", async () => {
    const engine = new MemoryEngine();
    await using kv = await openKv(engine);
    // The first chunk is put while further pages are read.
    for (let n = 0; n < 30; n++) await kv.set(["a", n], new Uint8Array(300_000));
    for (let n = 0; n < 1000; n++) await kv.set(["b", n], n);
    const sink = new MemorySink();
    const controller = new AbortController();
    const reason = new Error("stopped");
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const put = sink.put.bind(sink);
    let isPutting = false;
    sink.put = async (name, bytes) => {
      if (!name.endsWith(".chunk")) return await put(name, bytes);
      isPutting = true;
      begin();
      for (let n = 0; n < 100; n++) await setImmediate();
      isPutting = false;
    };
    const openView = engine.openView.bind(engine);
    vi.spyOn(engine, "openView").mockImplementation(() => {
      const view: ReadView = openView();
      const getRange = view.getRange.bind(view);
      vi.spyOn(view, "getRange").mockImplementation(async (read) => {
        const page = await getRange(read);
        if (page.length > 0 && page[0]!.value.length < 100) {
          await begun;
          controller.abort(reason);
        }
        return page;
      });
      return view;
    });
    await expect(backup(kv, sink, { signal: controller.signal })).rejects.toBe(reason);
    expect(isPutting).toBe(false);
  });

  it("that waits for its number rejects with the reason of its signal", async () => {
    await using kv = await openKv(":memory:");
    const sink = new MemorySink();
    const controller = new AbortController();
    const reason = new Error("stopped");
    const put = sink.put.bind(sink);
    let claims = 0;
    sink.put = async (name, bytes) => {
      await put(name, bytes);
      // Another program takes the same number each time.
      await put(name.replace(/-.{8}/, `-${String(++claims).padStart(8, "0")}`), bytes);
      if (claims === 4) controller.abort(reason);
    };
    await expect(backup(kv, sink, { signal: controller.signal })).rejects.toBe(reason);
  });

  it("that follows has the commits before the abort, also if it was adding others", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await backup(kv, sink);
    await kv.set(["a", 1], 1);
    const controller = new AbortController();
    const put = sink.put.bind(sink);
    sink.put = async (name, bytes) => {
      await put(name, bytes);
      if (controller.signal.aborted || !name.includes("/log-")) return;
      await kv.set(["a", 2], 2);
      controller.abort();
    };
    const { signal } = controller;
    await backup(kv, sink, { incremental: true, follow: true, signal });
    expect(await restoredValues(sink)).toEqual([1, 2]);
  });

  it("that follows ends with an error when its database is closed", async () => {
    const kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    const closed = { code: "KW_DATABASE_CLOSED" };
    const following = expect(backup(kv, sink, { follow: true })).rejects.toMatchObject(closed);
    await vi.waitFor(() => expect(sink.named(".full").length).toBe(1), patience);
    await kv.close();
    await following;
    await expect(backup(kv, sink)).rejects.toMatchObject(closed);
  });

  it("that follows ends with an error when its database was moved, and has its last commit", async () => {
    await using source = await openKv(":memory:", { log: {} });
    await using target = await openKv();
    const sink = new MemorySink();
    const moved = { code: "KW_DATABASE_MOVED" };
    const following = expect(backup(source, sink, { follow: true })).rejects.toMatchObject(moved);
    await vi.waitFor(() => expect(sink.named(".full").length).toBe(1), patience);
    await source.set(["a", 1], 1);
    await moveKv(source, target);
    await following;
    expect(await restoredValues(sink)).toEqual([1]);
  });
});

describe("a versionstamp from before a restore", () => {
  it("finds the backup that has it, although a later one of the restored database begins earlier", async () => {
    const sink = new MemorySink();
    const versionstamps: string[] = [];
    {
      await using kv = await openKv(":memory:", { log: {} });
      await backup(kv, sink);
      for (let n = 0; n < 50; n++) versionstamps.push((await kv.set(["a", 0], n)).versionstamp);
      await backup(kv, sink, { incremental: true });
    }
    await using kv = await openKv(":memory:", { log: {} });
    await restore(sink, kv);
    await backup(kv, sink, { incremental: true, fullIfNeeded: true });
    const { versionstamp } = await kv.set(["a", 0], "new");
    await backup(kv, sink, { incremental: true });
    expect(await restoredValues(sink, { at: versionstamps[40]! })).toEqual([40]);
    expect(await restoredValues(sink, { at: versionstamp })).toEqual(["new"]);
    expect(await restoredValues(sink)).toEqual(["new"]);
    const future = restoredValues(sink, { at: "f".repeat(20) });
    await expect(future).rejects.toMatchObject({ code: "KW_BACKUP_MOMENT" });
  });
});

describe("restore", () => {
  it("keeps a log from its end on, and takes the durability", async () => {
    await using kv = await openKv();
    await kv.set(["a", 1], 1);
    const sink = new MemorySink();
    await backup(kv, sink);
    await using restored = await openKv();
    await restore(sink, restored, { log: { keep: "2 days" }, durability: "relaxed" });
    await restored.set(["a", 2], 2);
    const keys: unknown[] = [];
    for await (const { changes } of restored.changes({ prefix: ["a"], live: false }))
      for (const { key } of changes) keys.push(key);
    expect(keys).toEqual([["a", 2]]);
    const wrong = { durability: "none" } as unknown as Parameters<typeof restore>[2];
    await expect(restore(sink, restored, wrong)).rejects.toMatchObject({
      code: "KW_OPTION_INVALID",
      option: "durability",
    });
  });
});
