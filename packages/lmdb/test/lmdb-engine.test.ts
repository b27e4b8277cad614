import {
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { AtomicWrite, EmbeddedKv, Engine, OpenKvOptions } from "@keywright/core";
import {
  CorruptionError,
  DatabaseFormatError,
  DatabaseNotFoundError,
  DatabasePathError,
  InvalidOptionError,
  openKv,
} from "@keywright/core";
import { open as openLmdb } from "lmdb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { changeRange, headKey } from "../src/file/reserved-keys.js";
import { lmdbEngine } from "../src/index.js";
import { openEngine } from "./open-engine.js";
import { temporaryFile } from "./temporary-file.js";

let path: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ path, remove } = await temporaryFile());
});

afterEach(() => remove());

/** Opens the file as programs do. */
async function open(options?: OpenKvOptions): Promise<EmbeddedKv> {
  return await openKv(await lmdbEngine({ path }), options);
}

async function withEngine<T>(body: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await openEngine(path);
  try {
    return await body(engine);
  } finally {
    await engine.close();
  }
}

function set(key: Uint8Array, value: Uint8Array): AtomicWrite {
  return { checks: [], mutations: [{ type: "set", key, value }], sync: true };
}

const key = Uint8Array.of(0x02, 0x61, 0x00);

describe("lmdbEngine", () => {
  it("refuses calls while and after it is closed, which would end the process", async () => {
    const range = { start: key, end: Uint8Array.of(0xff) };
    const calls: ((engine: Engine) => unknown)[] = [
      (engine) => engine.get(key),
      (engine) => engine.getMany([key]),
      (engine) => engine.getRange({ range, limit: 1, reverse: false }),
      (engine) => engine.openView?.(),
      (engine) => engine.commit([set(key, key)]),
    ];
    for (const [n, call] of calls.entries()) {
      const engine = await openEngine(`${path}-${n}`);
      await engine.commit([set(key, key)]);
      const closing = engine.close();
      const refused = async () =>
        await expect((async () => await call(engine))()).rejects.toMatchObject({
          code: "KW_DATABASE_CLOSED",
        });
      // At each moment at which LMDB may be closing the file.
      for (let step = 0; step < 6; step++) {
        await Promise.resolve();
        await refused();
      }
      await closing;
      await refused();
      // LMDB ends its reads in the next turns, and throws an error there that nobody catches.
      for (let turn = 0; turn < 20; turn++) await setTimeout(1);
    }
  });

  it("raises the format of a file that keeps a log, which earlier releases refuse", async () => {
    const format = async () => {
      const engine = await openEngine(path);
      const header = await engine.get(Uint8Array.of(0x00, 0x05));
      await engine.close();
      return header?.value[9];
    };
    await (await open()).close();
    expect(await format()).toBe(1);
    await (await open({ log: {} })).close();
    expect(await format()).toBe(2);
    await (await open({ log: false })).close();
    expect(await format()).toBe(1);
  });

  it("refuses options that are not valid", async () => {
    for (const options of [
      undefined,
      {},
      { path: "" },
      { path, maxReaders: 0 },
      { path, checkEntries: 1 },
      { path, mapSize: 1 },
    ])
      await expect(lmdbEngine(options as never)).rejects.toThrow(InvalidOptionError);
  });

  it("creates a file only if it may", async () => {
    const files = await lmdbEngine({ path, createIfMissing: false });
    await expect(openKv(files)).rejects.toThrow(DatabaseNotFoundError);
    for (const options of [{ createIfMissing: false }, { readOnly: true }])
      await expect(open(options)).rejects.toThrow(DatabaseNotFoundError);
    expect(await readdir(dirname(path))).toEqual([]);
  });

  it("creates missing folders, and leaves no file beside those of the database", async () => {
    path = join(dirname(path), "a/b/data.mdb");
    const handles = await Promise.all(Array.from({ length: 4 }, () => open()));
    await Promise.all(handles.map((kv) => kv.close()));
    const names = ["data.mdb", "data.mdb-lock", "data.mdb-owner"];
    expect((await readdir(dirname(path))).sort()).toEqual(names);
  });

  it("opens the same database through symbolic links, also if they lead to no file yet", async () => {
    const folder = join(dirname(path), "real");
    await mkdir(folder);
    await symlink("real", join(dirname(path), "folder"));
    await symlink("folder/data.mdb", join(dirname(path), "file"));
    path = join(dirname(path), "file");
    const kv = await open();
    try {
      path = join(folder, "data.mdb");
      const other = await open();
      await other.set(["a"], 1);
      expect((await kv.get(["a"])).value).toBe(1);
      await other.close();
      const names = ["data.mdb", "data.mdb-lock", "data.mdb-owner"];
      expect((await readdir(folder)).sort()).toEqual(names);
    } finally {
      await kv.close();
    }
  });

  it("refuses a file with a second name, which would have a second lock", async () => {
    await (await open()).close();
    const second = `${path}2`;
    await link(path, second);
    for (path of [path, second])
      await expect(open()).rejects.toMatchObject({
        code: "KW_DATABASE_PATH_INVALID",
        reason: expect.stringContaining("2 names"),
      });
    await rm(second);
    path = path.slice(0, -1);
    await (await open()).close();
  });

  it("repairs the files of the lock if a power failure has damaged them", async () => {
    await (await open()).close();
    const owner = `${path}-owner`;
    for (const name of await readdir(owner)) await writeFile(join(owner, name), "?");
    const kv = await open({ attach: false });
    await kv.close();
  });

  it("refuses writes and reads all entries with readOnly", async () => {
    let kv = await open();
    await kv.set(["a"], 1);
    await kv.close();
    kv = await open({ readOnly: true });
    try {
      expect((await kv.get(["a"])).value).toBe(1);
      await expect(kv.set(["a"], 2)).rejects.toMatchObject({ code: "KW_DATABASE_READ_ONLY" });
    } finally {
      await kv.close();
    }
  });

  it("removes what earlier versions stored for other processes", async () => {
    await withEngine((engine) => engine.commit([set(key, Uint8Array.of(1))]));
    await raw(async (store) => {
      for (let slot = 0; slot < 3; slot++)
        await store.put(Uint8Array.of(0x00, 0x02, 0, slot), Buffer.alloc(100));
    });
    await withEngine(async (engine) => {
      expect(engine.get(key)).toBeDefined();
      expect(await engine.verifyFiles!(() => undefined)).toMatchObject({ damages: [] });
    });
    expect(await raw(async (store) => [...store.getKeys(changeRange)])).toEqual([]);
  });

  it("fails if another program writes to the file", async () => {
    const kv = await open();
    try {
      await kv.set(["a"], 1);
      // Another handle of this process shares the file, so nothing is opened twice.
      await raw(async (store) => {
        const head = Buffer.from(store.get(headKey)!);
        head.writeDoubleLE(9);
        await store.put(headKey, head);
      });
      await expect(kv.set(["a"], 2)).rejects.toMatchObject({
        code: "KW_ENGINE_FAILED",
        message: expect.stringContaining("another program has written to the file"),
      });
      expect((await kv.get(["a"])).value).toBe(1);
    } finally {
      await kv.close();
    }
  });

  it.skipIf(process.platform === "win32")(
    "makes no commit if the file is moved, because another process could own it there",
    async () => {
      const kv = await open();
      try {
        await kv.set(["a"], 1);
        await rename(path, `${path}-moved`);
        await expect(kv.set(["a"], 2)).rejects.toMatchObject({ code: "KW_ENGINE_FAILED" });
        const moved = await openKv(await lmdbEngine({ path: `${path}-moved` }));
        expect((await moved.get(["a"])).value).toBe(1);
        await moved.close();
      } finally {
        await kv.close();
      }
    },
  );

  it("refuses a folder, another file, and an LMDB file of another program", async () => {
    await mkdir(path);
    await expect(open()).rejects.toThrow(DatabasePathError);
    for (const text of ["", "text ".repeat(10_000)]) {
      path = `${path}2`;
      await writeFile(path, text);
      await expect(open()).rejects.toThrow(DatabaseFormatError);
      expect(await readFile(path, "utf8")).toBe(text);
    }
    path = `${path}3`;
    const other = openLmdb(path, { noSubdir: true, pageSize: 8192 });
    await other.put("key", "value");
    await other.close();
    await expect(open()).rejects.toThrow(DatabaseFormatError);
  });

  it("refuses a file whose first or second page is overwritten", async () => {
    await withEngine((engine) => engine.commit([set(key, Uint8Array.of(1))]));
    const content = await readFile(path);
    for (const at of [0, 8192]) {
      await writeFile(path, Buffer.from(content).fill(0, at, at + 512));
      await expect(open()).rejects.toThrow(CorruptionError);
    }
  });

  it("counts the entries through sets, replacements, deletions and refused writes", async () => {
    await withEngine(async (engine) => {
      const value = new Uint8Array(10);
      const other = Uint8Array.of(0x02, 0x62, 0x00);
      const check = { key, versionstamp: null };
      await engine.commit([set(key, value), set(other, value), set(key, value)]);
      await engine.commit([{ ...set(key, value), checks: [check] }]);
      const [first, second] = [Uint8Array.of(0x02, 0x63, 0x00), Uint8Array.of(0x02, 0x64, 0x00)];
      const remove = (key: Uint8Array) => ({ type: "delete", key }) as const;
      // Keys that a check has found absent: set, set again, set and deleted, deleted and set.
      await engine.commit([
        { ...set(first, value), checks: [{ key: first, versionstamp: null }] },
        set(first, new Uint8Array(20)),
        { checks: [{ key: second, versionstamp: null }], mutations: [], sync: true },
        { ...set(second, value), checks: [{ key: second, versionstamp: null }] },
        { checks: [], mutations: [remove(second)], sync: true },
      ]);
      await engine.commit([
        { checks: [{ key: second, versionstamp: null }], mutations: [remove(second)], sync: true },
        set(second, value),
        { checks: [], mutations: [remove(first)], sync: true },
      ]);
      await engine.commit([
        { checks: [], mutations: [{ type: "delete", key: other }], sync: true },
        { checks: [], mutations: [{ type: "delete", key: other }], sync: true },
      ]);
      expect(await engine.verifyFiles!(() => undefined)).toMatchObject({ files: 1, damages: [] });
    });
  });

  it("finds an entry that is missing or exchanged, which its own checksum does not show", async () => {
    for (const remains of [undefined, "an old record"]) {
      await withEngine((engine) => engine.commit([set(key, Uint8Array.of(1))]));
      const record = await raw((store) => store.get(key));
      await withEngine((engine) => engine.commit([set(key, Uint8Array.of(2))]));
      await raw((store) => (remains === undefined ? store.remove(key) : store.put(key, record!)));
      await expect(open()).rejects.toThrow(CorruptionError);
      const unchecked = await openEngine(path, { checkEntries: false });
      try {
        const { damages } = await unchecked.verifyFiles!(() => undefined);
        expect(damages).toHaveLength(1);
        expect(() => unchecked.get(key)).toThrow(CorruptionError);
        const [outcome] = await unchecked.commit([set(key, Uint8Array.of(3))]);
        expect(outcome).toBeInstanceOf(CorruptionError);
      } finally {
        await unchecked.close();
      }
      await remove();
      ({ path, remove } = await temporaryFile());
    }
  });

  it("names the key of a damaged record", async () => {
    await withEngine((engine) => engine.commit([set(key, Uint8Array.of(1))]));
    await raw((store) => store.put(key, Buffer.alloc(30)));
    const engine = await openEngine(path, { checkEntries: false });
    try {
      expect(() => engine.get(key)).toThrow(expect.objectContaining({ key }));
      const { damages } = await engine.verifyFiles!(() => undefined);
      expect(damages[0]).toMatchObject({ file: "data.mdb", firstKey: Buffer.from(key) });
    } finally {
      await engine.close();
    }
  });

  it("grows from nothing to hundreds of megabytes", async () => {
    const kv = await open();
    try {
      const value = "x".repeat(400_000);
      for (let n = 0; n < 60; n++) {
        await Promise.all(Array.from({ length: 8 }, (_, i) => kv.set(["large", n, i], value)));
        expect((await kv.get(["large", n, 7])).value).toBe(value);
      }
      expect((await stat(path)).size).toBeGreaterThan(190_000_000);
    } finally {
      await kv.close();
    }
  });

  it("does not grow if the same entries are replaced, with abandoned iterators", async () => {
    const kv = await openKv(await lmdbEngine({ path }));
    try {
      const sizes: number[] = [];
      for (let round = 0; round < 4; round++) {
        for (let n = 0; n < 500; n++) {
          await Promise.all(
            Array.from({ length: 5 }, (_, i) => kv.set(["entry", i], "x".repeat(1000 + (n % 100)))),
          );
          const abandoned = kv.list({ prefix: ["entry"] }, { batchSize: 2 });
          await abandoned.next();
        }
        sizes.push((await stat(path)).size);
      }
      expect(sizes[3]).toBe(sizes[1]);
    } finally {
      await kv.close();
    }
  });

  it("hardly grows while its entries are checked in the background", async () => {
    const entries = 48_000;
    const write = async (count: number, text: string) => {
      const atomic = kv.atomic();
      for (let i = 0; i < count; i++)
        atomic.set(["entry", Math.floor((i * entries) / count)], text.repeat(200));
      await atomic.commit();
    };
    let kv = await openKv(await lmdbEngine({ path, checkEntries: false }));
    await write(entries, "x");
    await kv.close();
    const before = (await stat(path)).size;
    expect(before).toBeGreaterThan(8 * 1024 * 1024);
    kv = await openKv(await lmdbEngine({ path }));
    try {
      for (let n = 0; n < 40; n++) await write(400, String(n % 10));
      // It is about 2, and about 12 if the check does not end early.
      expect((await stat(path)).size / before).toBeLessThan(4);
    } finally {
      await kv.close();
    }
  });
});

/** Changes the file behind the engine's back. */
async function raw<T>(body: (store: ReturnType<typeof openRaw>) => T): Promise<T> {
  const store = openRaw();
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

function openRaw() {
  return openLmdb<Buffer, Uint8Array>(path, {
    noSubdir: true,
    keyEncoding: "binary",
    encoding: "binary",
    overlappingSync: false,
    pageSize: 8192,
  });
}
