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
import type { AtomicWrite, EmbeddedKv, Engine, OpenKvOptions } from "@keywright/core";
import {
  DatabaseFormatError,
  DatabaseNotFoundError,
  DatabasePathError,
  InvalidOptionError,
  openKv,
} from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { driverOfRuntime } from "../src/driver/driver-of-runtime.js";
import { SqliteFailures } from "../src/errors/sqlite-failure.js";
import { FileEngine } from "../src/file-engine.js";
import { type SqliteOptions, sqliteEngine } from "../src/index.js";
import { openToWrite } from "../src/open/open-file.js";
import { openRaw, raw } from "./raw-file.js";
import { temporaryFile } from "./temporary-file.js";

let path: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ path, remove } = await temporaryFile());
});

afterEach(() => remove());

/** Opens the file as programs do. */
async function open(
  options?: Partial<SqliteOptions>,
  kvOptions?: OpenKvOptions,
): Promise<EmbeddedKv> {
  return await openKv(await sqliteEngine({ path, ...options }), kvOptions);
}

async function withEngine<T>(body: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await sqliteEngine({ path });
  try {
    return await body(engine);
  } finally {
    await engine.close();
  }
}

const key = Uint8Array.of(0x02, 0x61, 0x00);

function set(value: number, at: Uint8Array = key): AtomicWrite {
  const mutation = { type: "set", key: at, value: Uint8Array.of(value) } as const;
  return { checks: [], mutations: [mutation], sync: true };
}

describe("sqliteEngine", () => {
  it("raises the format of a file that keeps a log, which earlier releases refuse", async () => {
    const format = async () => {
      const engine = await sqliteEngine({ path });
      const header = await engine.get(Uint8Array.of(0x00, 0x05));
      await engine.close();
      return header?.value[9];
    };
    await (await open()).close();
    expect(await format()).toBe(1);
    await (await open({}, { log: {} })).close();
    expect(await format()).toBe(2);
    await (await open({}, { log: false })).close();
    expect(await format()).toBe(1);
  });

  it("refuses options that are not valid", async () => {
    for (const options of [
      undefined,
      {},
      { path: "" },
      { path, busyTimeout: -1 },
      { path, checkEntries: 1 },
      { path, driver: "sqlite3" },
      { path, driver: {} },
      { path, pageSize: 1 },
    ])
      await expect(sqliteEngine(options as never)).rejects.toThrow(InvalidOptionError);
  });

  it("leaves time to other work while commits follow each other", async () => {
    const kv = await open(undefined, { durability: "relaxed" });
    let hasFired = false;
    setTimeout(() => {
      hasFired = true;
    }, 1);
    let commits = 0;
    for (; !hasFired && commits < 5000; commits++) await kv.set(["a"], commits);
    expect(commits).toBeLessThan(5000);
    await kv.close();
  });

  it("says what to install if the runtime has no SQLite", async () => {
    const absent = ["bun:sqlite", "node:sqlite"].find((name) => !isAvailable(name));
    if (absent === undefined) throw new Error("every runtime lacks one of them");
    await expect(sqliteEngine({ path, driver: absent as "bun:sqlite" })).rejects.toMatchObject({
      code: "KW_OPTION_INVALID",
      option: "driver",
      message: expect.stringContaining("install better-sqlite3"),
    });
  });

  it("runs on a driver of the program", async () => {
    const names: string[] = [];
    const codes: unknown[] = [];
    const driver = {
      open: (file: string) => {
        names.push(file);
        throw new Error("refused");
      },
      codeOf: (error: unknown) => {
        codes.push(error);
        return 14;
      },
    };
    await expect(sqliteEngine({ path, driver })).rejects.toThrow(DatabasePathError);
    expect(names).toEqual([path]);
    expect(codes).toEqual([expect.objectContaining({ message: "refused" })]);
  });

  it("creates a file only if it may", async () => {
    for (const options of [{ createIfMissing: false }, { readOnly: true }])
      await expect(open(options)).rejects.toThrow(DatabaseNotFoundError);
    expect(await readdir(dirname(path))).toEqual([]);
  });

  it("creates missing folders, and leaves one file when it is closed", async () => {
    path = join(dirname(path), "a b/ä/数据 (1)?#%20.sqlite");
    const handles = await Promise.all(Array.from({ length: 4 }, () => open()));
    await handles[0]!.set(["a"], 1);
    expect((await handles[3]!.get(["a"])).value).toBe(1);
    await Promise.all(handles.map((kv) => kv.close()));
    expect(await readdir(dirname(path))).toEqual(["数据 (1)?#%20.sqlite"]);
  });

  it("opens the same database through symbolic links, also if they lead to no file yet", async () => {
    const folder = join(dirname(path), "real");
    await mkdir(folder);
    const file = join(dirname(path), "file");
    await symlink("real/data.sqlite", file);
    path = file;
    const kv = await open();
    path = join(folder, "data.sqlite");
    const other = await open();
    try {
      await other.set(["a"], 1);
      expect((await kv.get(["a"])).value).toBe(1);
    } finally {
      await kv.close();
      await other.close();
    }
  });

  it("refuses a file with a second name, which would have a second log", async () => {
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

  it("refuses writes and reads all entries with readOnly", async () => {
    const writer = await open();
    await writer.set(["a"], 1);
    const kv = await open({ readOnly: true }, { readOnly: true });
    const engine = await sqliteEngine({ path, readOnly: true });
    try {
      expect((await kv.get(["a"])).value).toBe(1);
      await writer.set(["a"], 2);
      expect((await kv.get(["a"])).value).toBe(2);
      const refusal = expect.objectContaining({ code: "KW_DATABASE_READ_ONLY" });
      await expect(kv.set(["a"], 3)).rejects.toEqual(refusal);
      expect(await engine.commit([set(1)])).toEqual([refusal]);
    } finally {
      await engine.close();
      await kv.close();
      await writer.close();
    }
  });

  it("refuses a folder, another file, and an SQLite file of another program", async () => {
    await mkdir(path);
    await expect(open()).rejects.toThrow(DatabasePathError);
    path = `${path}2`;
    const text = "text ".repeat(10_000);
    await writeFile(path, text);
    await expect(open()).rejects.toThrow(DatabaseFormatError);
    expect(await readFile(path, "utf8")).toBe(text);
    path = `${path}3`;
    await raw(path, "CREATE TABLE users (id INTEGER PRIMARY KEY)");
    const before = await readFile(path);
    await expect(open()).rejects.toThrow(DatabaseFormatError);
    expect(await readFile(path)).toEqual(before);
  });

  it("refuses a file with a later format, and leaves it as it is", async () => {
    await (await open()).close();
    await raw(path, "PRAGMA user_version = 2");
    const before = await readFile(path);
    for (const readOnly of [false, true])
      await expect(open({ readOnly })).rejects.toMatchObject({
        code: "KW_DATABASE_FORMAT",
        message: expect.stringContaining("format 2"),
      });
    expect(await readFile(path)).toEqual(before);
  });

  it("makes no commit if the file is moved, because another process could open it there", async () => {
    const kv = await open();
    try {
      await kv.set(["a"], 1);
      await rename(path, `${path}-moved`);
      await expect(kv.set(["a"], 2)).rejects.toMatchObject({ code: "KW_ENGINE_FAILED" });
    } finally {
      await kv.close();
    }
  });

  it("makes no commit if the log is deleted, because other processes would begin another", async () => {
    const kv = await open();
    try {
      await kv.set(["a"], 1);
      await rm(`${path}-wal`);
      await rm(`${path}-shm`);
      await expect(kv.set(["a"], 2)).rejects.toMatchObject({
        code: "KW_ENGINE_FAILED",
        message: expect.stringContaining("-wal"),
      });
    } finally {
      await kv.close();
    }
  });

  it("refuses a commit whose record in the log is too large for SQLite, and makes later ones", async () => {
    const driver = await driverOfRuntime();
    const file = { driver, failures: new SqliteFailures(driver, path), path, busyTimeout: 1000 };
    const engine = await FileEngine.open(file, await openToWrite(file, true), {
      isReadOnly: false,
      checksEntries: false,
      onClosed: async () => undefined,
      mostRowBytes: 10_000,
    });
    await using kv = await openKv(engine, { log: {} });
    const value = new Uint8Array(6000);
    await kv.set(["a"], value);
    // The record has the value before and the value after.
    await expect(kv.set(["a"], value)).rejects.toMatchObject({ code: "KW_LIMIT_EXCEEDED" });
    await kv.set(["b"], value);
    expect((await kv.get(["b"])).value).toEqual(value);
  });

  it("fails if an older state is put back while it is open", async () => {
    const kv = await open();
    try {
      await kv.set(["a"], 1);
      await kv.set(["a"], 2);
      await raw(path, "DELETE FROM commits WHERE sequence = (SELECT max(sequence) FROM commits)");
      await expect(kv.set(["a"], 3)).rejects.toMatchObject({
        code: "KW_ENGINE_FAILED",
        message: expect.stringContaining("is no longer in the file"),
      });
    } finally {
      await kv.close();
    }
  });

  it("waits for the lock of another connection, and is unavailable after the deadline", async () => {
    const kv = await open({ busyTimeout: 300 });
    const other = await openRaw(path);
    try {
      other.prepare("BEGIN IMMEDIATE").run();
      const error = await kv.set(["a"], 1).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "KW_ENGINE_UNAVAILABLE", retryable: true });
      expect((error as Error).message).toMatch(
        /^The file of the database cannot be used: .* 3\d\d ms/,
      );
      expect((await kv.get(["a"])).value).toBeNull();
      // The event loop goes on while a commit waits, so the other connection can end.
      const waiting = kv.set(["a"], 2);
      setTimeout(() => other.prepare("COMMIT").run(), 50);
      await waiting;
      expect((await kv.get(["a"])).value).toBe(2);
    } finally {
      other.close();
      await kv.close();
    }
  });

  it("keeps no log of more than some megabytes after many commits", async () => {
    const kv = await open({}, { durability: "relaxed" });
    try {
      const sizes: number[] = [];
      for (let n = 0; n < 200; n++) {
        await kv.set(["entry", n % 10], "x".repeat(400_000));
        sizes.push((await stat(`${path}-wal`)).size);
      }
      expect(Math.max(...sizes)).toBeLessThan(40_000_000);
      expect((await stat(path)).size).toBeLessThan(20_000_000);
    } finally {
      await kv.close();
    }
  });

  it("finds an entry that is missing or exchanged, which its own checksum does not show", async () => {
    for (const remains of [undefined, "an old record"]) {
      await withEngine((engine) => engine.commit([set(1)]));
      const [old] = await raw(path, "SELECT record FROM entries WHERE key = ?", key);
      await withEngine((engine) => engine.commit([set(2)]));
      if (remains === undefined) await raw(path, "DELETE FROM entries WHERE key = ?", key);
      else await raw(path, "UPDATE entries SET record = ? WHERE key = ?", old![0]!, key);
      await expect(open()).rejects.toMatchObject({ code: "KW_CORRUPTION", path });
      const unchecked = await sqliteEngine({ path, checkEntries: false });
      try {
        const { damages } = (await unchecked.verifyFiles!(() => undefined)) ?? {};
        expect(damages).toHaveLength(1);
        const refusal = expect.objectContaining({ code: "KW_CORRUPTION" });
        expect(() => unchecked.get(key)).toThrow(refusal);
        expect(await unchecked.commit([set(3)])).toEqual([refusal]);
        expect(unchecked.lastVersionstamp).toBeUndefined();
      } finally {
        await unchecked.close();
      }
      await remove();
      ({ path, remove } = await temporaryFile());
    }
  });

  it("names the key of a damaged record", async () => {
    await withEngine((engine) => engine.commit([set(1)]));
    await raw(path, "UPDATE entries SET record = zeroblob(30) WHERE key = ?", key);
    const engine = await sqliteEngine({ path, checkEntries: false });
    try {
      const damaged = expect.objectContaining({
        key: expect.objectContaining({ 0: 0x02, 1: 0x61 }),
      });
      expect(() => engine.get(key)).toThrow(damaged);
      const { damages } = await engine.verifyFiles!(() => undefined);
      expect(damages[0]).toMatchObject({ file: "data.sqlite" });
      expect([...damages[0]!.firstKey!]).toEqual([...key]);
    } finally {
      await engine.close();
    }
  });

  it("reports every page that is lost or overwritten, and returns no other rows", async () => {
    const kv = await open();
    for (let n = 0; n < 400; n++) await kv.set(["row", n], `value ${n} `.repeat(10));
    await kv.close();
    const content = await readFile(path);
    const pages = content.length / 4096;
    expect(pages).toBeGreaterThan(20);
    for (let page = 0; page < pages; page++) {
      await writeFile(path, Buffer.from(content).fill(0, page * 4096, (page + 1) * 4096));
      const error = await open().then(
        (opened) => opened.close().then(() => undefined),
        (thrown: { code: string }) => thrown.code,
      );
      // The first page says that this is an SQLite file at all.
      expect(error, `page ${page}`).toBe(page === 0 ? "KW_DATABASE_FORMAT" : "KW_CORRUPTION");
    }
  });

  it("counts the entries through sets, replacements, deletions and refused writes", async () => {
    await withEngine(async (engine) => {
      const other = Uint8Array.of(0x02, 0x62, 0x00);
      const remove = { type: "delete", key: other } as const;
      await engine.commit([set(1), set(1, other), set(2)]);
      await engine.commit([{ ...set(3), checks: [{ key, versionstamp: null }] }]);
      const removal = { checks: [], mutations: [remove], sync: true };
      await engine.commit([removal, removal]);
      expect(await engine.verifyFiles!(() => undefined)).toMatchObject({ files: 1, damages: [] });
      expect(engine.get(other)).toBeUndefined();
    });
  });

  it("leaves no view, statement or timer that keeps the file open", async () => {
    const kv = await open();
    const view = await kv.openView();
    const changes = kv.watch([["a"]]).getReader();
    await kv.set(["a"], 1);
    await kv.list({ prefix: [] }, { batchSize: 1 }).next();
    void view;
    void changes;
    await kv.close();
    expect(await readdir(dirname(path))).toEqual(["data.sqlite"]);
  });

  it("refuses views that would hold too many states, until some are closed", async () => {
    const kv = await open({}, { durability: "relaxed" });
    try {
      const views = [];
      for (let state = 0; state < 64; state++) {
        await kv.set(["state"], state);
        views.push(await kv.openView(), await kv.openView());
      }
      await kv.set(["state"], 64);
      expect(() => kv.openView()).toThrow(expect.objectContaining({ code: "KW_READ_VIEW_ENDED" }));
      const seen = await Promise.all(views.map((view) => view!.get(["state"])));
      expect(seen.map(({ value }) => value)).toEqual(views.map((_, i) => Math.floor(i / 2)));
      for (const view of views.slice(0, 2)) view!.close();
      const next = await kv.openView();
      expect((await next!.get(["state"])).value).toBe(64);
    } finally {
      await kv.close();
    }
  });
});

function isAvailable(name: string): boolean {
  const [major = 0] = process.versions.node.split(".").map(Number);
  if (name === "bun:sqlite") return "bun" in process.versions;
  return major >= 22 && !("bun" in process.versions);
}
