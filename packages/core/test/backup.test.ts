import { randomBytes, randomUUID } from "node:crypto";
import { cp, mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { backup, folderSink, restore, verifyBackup } from "../src/backup.js";
import { type EmbeddedKv, type Engine, type KvEntry, KvU64, openKv } from "../src/index.js";
import { MemorySink } from "./backup-sink.js";
import { engineOf } from "./engine-of.js";
import { withFolder } from "./temporary-folder.js";

/** Milliseconds until a wait fails, also on a busy machine. */
const patience = 60_000;

type State = Map<string, unknown>;

async function stateOf(kv: Pick<EmbeddedKv, "list">): Promise<State> {
  const state: State = new Map();
  for await (const { key, value } of kv.list({ prefix: [] })) state.set(key.join(), plain(value));
  return state;
}

function plain(value: unknown): unknown {
  return value instanceof KvU64 ? `u64 ${value.value}` : value;
}

async function restored(
  sink: MemorySink,
  options: Parameters<typeof restore>[2] = {},
): Promise<State> {
  await using kv = await openKv();
  await restore(sink, kv, options);
  return await stateOf(kv);
}

/** A commit of one of some kinds, all of them on few keys, so that they replace each other. */
async function randomCommit(kv: EmbeddedKv, random: () => number): Promise<string> {
  const pick = (most: number) => Math.floor(random() * most);
  const operation = kv.atomic();
  for (let n = pick(4); n >= 0; n--) {
    const key = ["key", pick(20)];
    const counter = ["count", pick(4)];
    const kind = pick(6);
    if (kind === 0) operation.delete(key);
    else if (kind === 1) operation.sum(counter, BigInt(pick(100)));
    else if (kind === 2) operation.max(counter, BigInt(pick(500)));
    else if (kind === 3) operation.delete(counter);
    else operation.set(key, { n: random() });
  }
  const { versionstamp } = (await operation.commit()) as { versionstamp: string };
  return versionstamp;
}

/** The same numbers in each run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const engines: Readonly<Record<string, () => Promise<string | Engine>>> = {
  memory: async () => ":memory:",
  "an engine that does not log": () => engineOf({ hasViews: true }),
};

describe.each(Object.entries(engines))("a backup of %s", (_, engine) => {
  it("has each moment between its commits", async () => {
    await using kv = await openKv(await engine(), { log: {} });
    const random = randomNumbers(7);
    const sink = new MemorySink();
    const moments: { versionstamp: string; state: State }[] = [];
    for (let part = 0; part < 10; part++) {
      await backup(kv, sink, { incremental: part % 4 !== 0 });
      for (let n = 0; n < 20; n++) {
        const versionstamp = await randomCommit(kv, random);
        moments.push({ versionstamp, state: await stateOf(kv) });
      }
    }
    const last = await backup(kv, sink, { incremental: true });
    expect(last).toMatchObject({ kind: "incremental", commits: 20 });
    for (let n = 0; n < 100; n++) {
      const { versionstamp, state } = moments[Math.floor(random() * moments.length)]!;
      expect(await restored(sink, { at: versionstamp })).toEqual(state);
    }
    expect(await restored(sink)).toEqual(await stateOf(kv));
    await verifyBackup(sink);
  });
});

it("backups between which nothing was changed leave each moment", async () => {
  await using kv = await openKv(":memory:", { log: {} });
  const sink = new MemorySink();
  await backup(kv, sink);
  const { versionstamp } = await kv.set(["a"], 1);
  for (let n = 0; n < 20; n++) await backup(kv, sink, { incremental: true });
  await kv.set(["a"], 2);
  await backup(kv, sink, { incremental: true });
  expect(await restored(sink, { at: versionstamp })).toEqual(new Map([["a", 1]]));
  expect(await restored(sink)).toEqual(new Map([["a", 2]]));
});

it("the state of which a backup tells can be restored, also if its last commit changed nothing", async () => {
  await using kv = await openKv(":memory:", { log: {} });
  await kv.set(["a"], 1);
  await kv.delete(["absent"]);
  const sink = new MemorySink();
  for (const incremental of [false, true, true]) {
    const { versionstamp } = await backup(kv, sink, { incremental });
    expect(await restored(sink, { at: versionstamp })).toEqual(new Map([["a", 1]]));
  }
});

it("a backup notices that the database has lost its last commits, and has made others", async () => {
  await withFolder(async (folder) => {
    const [data, earlier] = [`${folder}/data`, `${folder}/earlier`];
    const sink = new MemorySink();
    const commit = async (...keys: string[]) => {
      await using kv = await openKv(data, { log: {} });
      for (const key of keys) await kv.set([key], 1);
    };
    const backUp = async (options: Parameters<typeof backup>[2]) => {
      await using kv = await openKv(data);
      return await backup(kv, sink, options);
    };
    await commit("a");
    await backUp({});
    await cp(data, earlier, { recursive: true });
    await commit("lost");
    await backUp({ incremental: true });
    // As after a power failure with relaxed durability.
    await rm(data, { recursive: true });
    await cp(earlier, data, { recursive: true });
    await commit("b", "c");
    await expect(backUp({ incremental: true })).rejects.toMatchObject({
      code: "KW_BACKUP_FULL_NEEDED",
      reason: expect.stringContaining("has lost the last commits") as string,
    });
    await backUp({ incremental: true, fullIfNeeded: true });
    expect([...(await restored(sink)).keys()]).toEqual(["a", "b", "c"]);
  });
});

describe("a backup while programs write", () => {
  it("has one state", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const filler = "x".repeat(2000);
    for (let n = 0; n < 3000; n++) await kv.set(["filler", n], filler);
    let isEnded = false;
    const writers = Array.from({ length: 16 }, async (_, writer) => {
      for (let n = 0; !isEnded; n++) {
        const id = `${writer}/${n % 50}`;
        await setImmediate();
        const row = await kv.get<{ email: string }>(["users", id]);
        const email = `${writer}.${n}`;
        const operation = kv.atomic().check(row).set(["users", id], { email });
        if (row.value !== null) operation.delete(["users_by_email", row.value.email]);
        await operation.set(["users_by_email", email], id).commit();
      }
    });
    const sink = new MemorySink();
    const results = [await backup(kv, sink), await backup(kv, sink)];
    isEnded = true;
    await Promise.all(writers);
    for (const { versionstamp } of results) {
      const state = await restored(sink, { at: versionstamp });
      const expected: State = new Map();
      for await (const commit of kv.changes({ live: false })) {
        if (commit.versionstamp > versionstamp) break;
        for (const { key, after } of commit.changes) {
          if (after === null) expected.delete(key.join());
          else expected.set(key.join(), after.value);
        }
      }
      expect(new Map([...state].sort())).toEqual(new Map([...expected].sort()));
      const emails = [...state.keys()].filter((key) => key.startsWith("users_by_email,"));
      expect(emails.length).toBe([...state.keys()].filter((key) => /^users,/.test(key)).length);
    }
  });

  it("keeps the order of the commits and the entries of one commit together", async () => {
    await using kv = await openKv();
    for (const key of ["c", "a", "b"]) await kv.atomic().set([key, 1], 1).set([key, 2], 2).commit();
    const sink = new MemorySink();
    await backup(kv, sink);
    await using target = await openKv();
    await restore(sink, target);
    const entries = [];
    for await (const entry of target.list({ prefix: [] })) entries.push(entry);
    const versions = Object.fromEntries(
      entries.map(({ key, versionstamp }) => [key.join(""), versionstamp]),
    );
    expect(versions.a1).toBe(versions.a2);
    expect([versions.c1, versions.a1, versions.b1]).toEqual(
      [versions.a1, versions.b1, versions.c1].sort(),
    );
  });
});

describe("a backup contains", () => {
  it("expiry times and messages of the queue", async () => {
    const sink = new MemorySink();
    {
      await using kv = await openKv();
      await kv.set(["long"], 1, { expireIn: 3_600_000 });
      await kv.set(["short"], 1, { expireIn: 60_000 });
      await kv.enqueue({ hello: 1 });
      const result = await backup(kv, sink);
      expect(result).toMatchObject({ entries: 3, messages: 1 });
    }
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: now + 120_000 });
    try {
      await using target = await openKv();
      const result = await restore(sink, target);
      expect(result).toMatchObject({ entries: 1, messages: 1, expired: 1 });
      const { expireAt } = (await target.get(["long"])) as KvEntry<unknown>;
      expect(expireAt).toBeGreaterThan(now + 3_500_000);
      const message = await new Promise((resolve) => {
        void target.listenQueue(resolve);
      });
      expect(message).toEqual({ hello: 1 });
      vi.setSystemTime(now + 7_200_000);
      expect((await target.get(["long"])).value).toBe(null);
    } finally {
      vi.useRealTimers();
    }
  });

  it("a sum of an entry that had yet to expire", async () => {
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now });
    try {
      await using kv = await openKv(await engineOf({ hasViews: true }), { log: {} });
      const sink = new MemorySink();
      await backup(kv, sink);
      await kv.set(["count"], new KvU64(5n), { expireIn: 60_000 });
      await kv.atomic().sum(["count"], 1n).commit();
      await backup(kv, sink, { incremental: true });
      vi.setSystemTime(now + 120_000);
      expect(await restored(sink)).toEqual(new Map([["count", "u64 6"]]));
    } finally {
      vi.useRealTimers();
    }
  });

  it("the keys of a database in the mode of Deno KV", async () => {
    const sink = new MemorySink();
    await using kv = await openKv(":memory:", { compat: "deno" });
    await kv.set([1], 1);
    await kv.set([2n], 2);
    await backup(kv, sink);
    await withFolder(async (folder) => {
      await restore(sink, `${folder}/data`);
      await using target = await openKv(`${folder}/data`, { compat: "deno" });
      expect([...(await stateOf(target)).values()]).toEqual([2, 1]);
    });
    await using other = await openKv();
    await expect(restore(sink, other)).rejects.toMatchObject({ code: "KW_DATABASE_MODE" });
    expect(await verifyBackup(sink)).toMatchObject({ entries: 2 });
  });
});

describe("the moment", () => {
  it("may be a time between two commits", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    try {
      await using kv = await openKv(":memory:", { log: {} });
      const sink = new MemorySink();
      await kv.set(["a"], 0);
      await backup(kv, sink);
      for (const n of [1, 2, 3]) {
        vi.setSystemTime(1_000_000 + n * 1000);
        await kv.set(["a"], n);
      }
      vi.setSystemTime(1_010_000);
      await backup(kv, sink, { incremental: true });
      const at = async (time: number) => (await restored(sink, { at: new Date(time) })).get("a");
      expect([await at(1_000_000), await at(1_001_999), await at(1_002_000)]).toEqual([0, 1, 2]);
      expect(await at(1_010_000)).toBe(3);
      const missing = { code: "KW_BACKUP_MOMENT" };
      await expect(at(999_999)).rejects.toMatchObject(missing);
      await expect(at(1_010_001)).rejects.toMatchObject(missing);
      await expect(restored(sink, { at: "f".repeat(20) })).rejects.toMatchObject(missing);
      await expect(restored(sink, { at: "soon" })).rejects.toMatchObject({
        code: "KW_VERSIONSTAMP_INVALID",
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it("is that of the last commit up to it, also if a clock was wrong for a while", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    try {
      await using kv = await openKv(":memory:", { log: {} });
      const sink = new MemorySink();
      await backup(kv, sink);
      for (const [n, time] of [1000, 90_000, 2000, 3000].entries()) {
        vi.setSystemTime(1_000_000 + time);
        await kv.set(["a"], n);
        await backup(kv, sink, { incremental: true });
      }
      const at = new Date(1_002_500);
      const past = (await kv.openPast(at))!;
      expect((await past.get(["a"])).value).toBe(2);
      past.close();
      expect((await restored(sink, { at })).get("a")).toBe(2);
      expect((await restored(sink, { at: new Date(1_000_999) })).get("a")).toBe(undefined);
      await using idle = await openKv(":memory:", { log: {} });
      const empty = new MemorySink();
      for (const incremental of [false, true]) await backup(idle, empty, { incremental });
      const later = restored(empty, { at: new Date(Date.now() + 1) });
      await expect(later).rejects.toMatchObject({ code: "KW_BACKUP_MOMENT" });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("an incremental backup", () => {
  const needsFull = { code: "KW_BACKUP_FULL_NEEDED" };

  it("needs a full backup of the same log with all commits since", async () => {
    const sink = new MemorySink();
    await using kv = await openKv();
    const add = () => backup(kv, sink, { incremental: true });
    await expect(add()).rejects.toMatchObject(needsFull);
    await backup(kv, sink);
    await expect(add()).rejects.toMatchObject(needsFull);
    await using logged = await openKv(":memory:", { log: {} });
    await logged.set(["a"], 1);
    await backup(logged, sink);
    await using other = await openKv(":memory:", { log: {} });
    await other.set(["a"], 1);
    await other.set(["a"], 2);
    const added = backup(other, sink, { incremental: true });
    await expect(added).rejects.toMatchObject(needsFull);
    const full = await backup(other, sink, { incremental: true, fullIfNeeded: true });
    expect(full).toMatchObject({ kind: "full", entries: 1 });
    expect(full.fullReason).toMatch(/another database/);
  });

  it("fails if the log was shortened", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    try {
      const sink = new MemorySink();
      await using kv = await openKv(":memory:", { log: { keep: "1 minute" } });
      await backup(kv, sink);
      await kv.set(["a"], 1);
      vi.setSystemTime(Date.now() + 70_000);
      await vi.advanceTimersByTimeAsync(60_000);
      await vi.waitFor(async () => {
        expect((await kv.changes({ live: false }).next()).done).toBe(true);
      }, patience);
      const added = backup(kv, sink, { incremental: true });
      await expect(added).rejects.toMatchObject(needsFull);
    } finally {
      vi.useRealTimers();
    }
  });

  it("that ends while another program makes a full backup stays in the last state", async () => {
    const sink = new MemorySink();
    await using kv = await openKv(":memory:", { log: {} });
    await backup(kv, sink);
    const put = sink.put.bind(sink);
    let isFirst = true;
    sink.put = async (name, bytes) => {
      if (name.endsWith(".full") && isFirst) {
        isFirst = false;
        await kv.set(["a"], 1);
        await backup(kv, sink, { incremental: true });
      }
      await put(name, bytes);
    };
    await backup(kv, sink);
    expect(sink.named(".full").length).toBe(2);
    expect((await restored(sink)).get("a")).toBe(1);
  });

  it("follows the full backups of others", async () => {
    const sink = new MemorySink();
    await using kv = await openKv(":memory:", { log: {} });
    const controller = new AbortController();
    const following = backup(kv, sink, { follow: true, signal: controller.signal });
    await vi.waitFor(() => expect(sink.named(".full").length).toBe(1), patience);
    for (const n of [1, 2]) {
      await backup(kv, sink, { keep: 1 });
      const { versionstamp } = await kv.set(["a"], n);
      const isAdded = (name: string) => name.startsWith(sink.named(".full")[0]!.slice(0, 17));
      await vi.waitFor(
        () => expect(sink.named(`log-${versionstamp}`).filter(isAdded).length).toBe(1),
        { timeout: patience, interval: 20 },
      );
      expect((await restored(sink)).get("a")).toBe(n);
    }
    controller.abort();
    expect(await following).toMatchObject({ commits: 2 });
  });

  it("has the moments before a full backup that was killed right after its manifest", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    const sink = new MemorySink();
    await kv.set(["a"], 1);
    await backup(kv, sink);
    const { versionstamp } = await kv.set(["a"], 2);
    await kv.set(["a"], 3);
    const killed = new Error("killed");
    const killing = Object.assign(Object.create(sink), {
      put: async (name: string, bytes: Uint8Array) => {
        await sink.put(name, bytes);
        if (name.endsWith(".full")) throw killed;
      },
    });
    await expect(backup(kv, killing)).rejects.toBe(killed);
    await kv.set(["a"], 4);
    await backup(kv, sink, { incremental: true });
    for (const [at, value] of [
      [versionstamp, 2],
      [undefined, 4],
    ] as const) {
      await using restored = await openKv();
      await restore(sink, restored, { at });
      expect((await restored.get(["a"])).value).toBe(value);
    }
  });

  it("follows until its signal", async () => {
    const sink = new MemorySink();
    await using kv = await openKv(":memory:", { log: {} });
    await kv.set(["a"], 0);
    const controller = new AbortController();
    let onSeen = (): void => undefined;
    const seen = new Promise<void>((resolve) => {
      onSeen = resolve;
    });
    const following = backup(kv, sink, {
      follow: true,
      signal: controller.signal,
      onProgress: ({ phase }) => phase === "following" && onSeen(),
    });
    await expect.poll(() => sink.named(".full").length).toBe(1);
    await kv.set(["a"], 1);
    await seen;
    await kv.set(["a"], 2);
    controller.abort();
    expect(await following).toMatchObject({ kind: "full", commits: 2 });
    expect((await restored(sink)).get("a")).toBe(2);
    await using unlogged = await openKv();
    const refused = backup(unlogged, sink, { follow: true });
    await expect(refused).rejects.toMatchObject({ code: "KW_LOG_OFF" });
  });
});

describe("an encrypted backup", () => {
  it("is read with its key only, and tells damage from another key", async () => {
    const sink = new MemorySink();
    const key = randomBytes(32);
    await using kv = await openKv(":memory:", { log: {} });
    await kv.set(["a"], "secret text");
    await backup(kv, sink, { key });
    await kv.set(["a"], "secret text 2");
    await backup(kv, sink, { key, incremental: true });
    for (const bytes of sink.objects.values())
      expect(Buffer.from(bytes).includes("secret")).toBe(false);
    expect((await restored(sink, { key })).get("a")).toBe("secret text 2");
    const wrong = { code: "KW_BACKUP_KEY" };
    await expect(restored(sink)).rejects.toMatchObject(wrong);
    await expect(restored(sink, { key: randomBytes(32) })).rejects.toMatchObject(wrong);
    await expect(backup(kv, sink, { incremental: true })).rejects.toMatchObject(wrong);
    const [chunk] = sink.named(".chunk");
    sink.objects.get(chunk!)![200]! ^= 1;
    await expect(restored(sink, { key })).rejects.toMatchObject({ code: "KW_BACKUP_DAMAGED" });
  });
});

it("a backup with a key does not continue one without", async () => {
  const sink = new MemorySink();
  const key = randomBytes(32);
  await using kv = await openKv(":memory:", { log: {} });
  await kv.set(["a"], 1);
  await backup(kv, sink);
  const continued = backup(kv, sink, { key, incremental: true });
  await expect(continued).rejects.toMatchObject({
    code: "KW_BACKUP_FULL_NEEDED",
    reason: "the last full backup is not encrypted",
  });
  const full = await backup(kv, sink, { key, incremental: true, fullIfNeeded: true });
  expect(full.kind).toBe("full");
  await kv.set(["a"], 2);
  const added = await backup(kv, sink, { key, incremental: true });
  expect(added.kind).toBe("incremental");
  expect((await restored(sink, { key })).get("a")).toBe(2);
  await verifyBackup(sink, { key });
});

describe("a folder", () => {
  it("keeps a backup, from which LevelDB is restored", async () => {
    await withFolder(async (folder) => {
      const sink = folderSink(`${folder}/backups/app`);
      await using kv = await openKv(`${folder}/data`, { log: {} });
      await kv.set(["a"], 1);
      await backup(kv, sink);
      await kv.set(["b"], new Uint8Array(30_000));
      await backup(kv, sink, { incremental: true });
      await restore(sink, `${folder}/new`);
      await using target = await openKv(`${folder}/new`);
      expect(await stateOf(target)).toEqual(await stateOf(kv));
      expect((await verifyBackup(sink)).backups).toBe(1);
    });
  });

  it("lists the names with a prefix", async () => {
    await withFolder(async (folder) => {
      const sink = folderSink(folder);
      const names = ["1-a/x", "1-a/y/z", "1-b", "2/x"];
      for (const name of names) await sink.put(name, Uint8Array.of(1));
      for (const prefix of [
        "",
        "1",
        "1-a",
        "1-a/",
        "1-a/y",
        "1-a/y/z",
        "1-b",
        "2/x",
        "3",
        "1-a/x/",
      ])
        expect([...(await sink.list(prefix))].sort()).toEqual(
          names.filter((name) => name.startsWith(prefix)),
        );
    });
  });

  it("has nothing of an interrupted backup after one that keeps few", async () => {
    await withFolder(async (folder) => {
      const sink = folderSink(`${folder}/backups`);
      await using kv = await openKv(":memory:");
      await kv.set(["a"], 1);
      await backup(kv, sink);
      const [first] = await readdir(`${folder}/backups`);
      const of = (name: string) => `${folder}/backups/${name}`;
      const unfinished = `00000000.chunk.${randomUUID()}.tmp`;
      await mkdir(of("00000000-00000000"));
      await mkdir(of("00000000-00000001"));
      await mkdir(of("mine"));
      const files = [`00000000-00000000/${unfinished}`, `a.full.${randomUUID()}.tmp`, "mine.tmp"];
      for (const name of files) await writeFile(of(name), "half");
      const running = `${first!.slice(0, 17)}/00000009.chunk.${randomUUID()}.tmp`;
      await writeFile(of(running), "half");
      for (const name of [...files, "00000000-00000000", "00000000-00000001", "mine"])
        await utimes(of(name), 0, 0);
      await backup(kv, sink, { keep: 1 });
      const left = (await readdir(`${folder}/backups`, { recursive: true })).sort();
      const [second] = await sink.list("");
      const generation = second!.slice(0, 17);
      expect(left).toEqual(
        [
          ...[running.slice(0, 17), running, generation, `${generation}/00000000.chunk`],
          ...[`${generation}.full`, "mine", "mine.tmp"],
        ].sort(),
      );
      await sink.delete(`${generation}/00000000.chunk`);
      await sink.put(`${generation}/00000000.chunk`, Uint8Array.of(1));
    });
  });

  it("is refused if it is a file", async () => {
    await withFolder(async (folder) => {
      await writeFile(`${folder}/file`, "");
      await using kv = await openKv(":memory:");
      for (const path of [`${folder}/file`, `${folder}/file/backups`]) {
        const sink = folderSink(path);
        const wrong = { code: "KW_OPTION_INVALID", option: "path" };
        await expect(backup(kv, sink)).rejects.toMatchObject(wrong);
        await expect(restore(sink, ":memory:")).rejects.toMatchObject(wrong);
        await expect(sink.put("a", new Uint8Array())).rejects.toMatchObject(wrong);
        await expect(sink.put("a/b", new Uint8Array())).rejects.toMatchObject(wrong);
        await expect(sink.get("a/b")).rejects.toMatchObject(wrong);
      }
    });
  });

  it("has no other files of a put that failed", async () => {
    await withFolder(async (folder) => {
      const sink = folderSink(folder);
      await sink.put("a", Uint8Array.of(1));
      await expect(sink.put("a/b", Uint8Array.of(1))).rejects.toThrow();
      expect(await sink.list("")).toEqual(["a"]);
      expect(await sink.get("c")).toBe(undefined);
      await sink.delete("a");
      await sink.delete("a");
      expect(await sink.list("")).toEqual([]);
    });
  });
});
