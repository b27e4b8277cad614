import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { ClassicLevel } from "classic-level";
import { MemoryLevel } from "memory-level";
import { describe, expect, it } from "vitest";
import type { LevelDatabase } from "../src/engine/level/level-engine.js";
import { encodeRecord, recordSize } from "../src/engine/level/record.js";
import { encodeKey } from "../src/keys/encode-key.js";
import type { EmbeddedKv } from "../src/kv/embedded-kv.js";
import { openKv } from "../src/kv/open-kv.js";
import { garbageCollector } from "./javascript-engine.js";
import { withFolder } from "./temporary-folder.js";

/** Opens databases that are closed afterwards, whatever happens. */
async function withOpen(
  body: (open: (...where: Parameters<typeof openKv>) => Promise<EmbeddedKv>) => Promise<void>,
): Promise<void> {
  const opened: EmbeddedKv[] = [];
  try {
    await body(async (...where) => {
      const kv = await openKv(...where);
      opened.push(kv);
      return kv;
    });
  } finally {
    for (const kv of opened) await kv.close();
  }
}

function handedIn(level: unknown): LevelDatabase {
  return level as LevelDatabase;
}

/** Resolves where nobody has the database at a path open any more. */
async function expectUnlocked(folder: string): Promise<void> {
  const level = new ClassicLevel(folder);
  await level.open();
  await level.close();
}

describe("openKv in memory", () => {
  it("opens a database of its own each time", async () => {
    await withOpen(async (open) => {
      const databases = [await open(), await open(":memory:"), await open(undefined)];
      for (const [index, kv] of databases.entries()) await kv.set(["a"], index);
      for (const [index, kv] of databases.entries())
        expect((await kv.get(["a"])).value).toBe(index);
      expect(await readdir(".")).not.toContain(":memory:");
    });
  });
});

describe("a database in memory that is never closed", () => {
  it("holds its memory no longer than somebody has it", async () => {
    const collectGarbage = garbageCollector();
    const database = await (async () => {
      const level = handedIn(new MemoryLevel());
      const kv = await openKv(level);
      await kv.set(["a"], 1);
      return new WeakRef(level);
    })();
    for (let turn = 0; turn < 20 && database.deref() !== undefined; turn++) {
      await new Promise(setImmediate);
      collectGarbage();
    }
    expect(database.deref()).toBeUndefined();
  });
});

describe("openKv on a path", () => {
  it("makes the folder where it is absent, and keeps what is written", async () => {
    await withFolder(async (folder) => {
      const path = join(folder, "deep", "data");
      const kv = await openKv(path);
      const { versionstamp } = await kv.set(["a"], 1);
      await kv.close();
      await withOpen(async (open) => {
        const again = await open(path);
        expect(await again.get(["a"])).toEqual({ key: ["a"], value: 1, versionstamp });
      });
    });
  });

  it("shares the database that is open there, by whichever way the path leads to it", async () => {
    await withFolder(async (folder) => {
      const path = join(folder, "data");
      await symlink(path, join(folder, "link"));
      await withOpen(async (open) => {
        const first = await open(path);
        await first.set(["a"], 1);
        const ways = [
          path,
          `${path}/`,
          join(folder, "link"),
          relative(process.cwd(), path),
          `${folder}/other/../data`,
        ];
        for (const way of ways) {
          const kv = await open(way);
          expect((await kv.get(["a"])).value).toBe(1);
          await kv.set(["from", way], way);
          expect((await first.get(["from", way])).value).toBe(way);
        }
      });
      await expectUnlocked(path);
    });
  });

  it("keeps the database open for the others when one of them closes it", async () => {
    await withFolder(async (folder) => {
      const first = await openKv(folder);
      const second = await openKv(folder);
      await first.close();
      await first.close();
      await second.set(["a"], 1);
      await expect(first.get(["a"])).rejects.toMatchObject({ code: "KW_DATABASE_CLOSED" });
      expect((await second.get(["a"])).value).toBe(1);
      await second.close();
      await expectUnlocked(folder);
    });
  });

  it("lets one close while another still commits", async () => {
    await withFolder(async (folder) => {
      await withOpen(async (open) => {
        const first = await open(folder, { durability: "relaxed" });
        const second = await open(folder, { durability: "relaxed" });
        let isBusy = true;
        let commits = 0;
        const busy = Array.from({ length: 4 }, async () => {
          while (isBusy) await second.set(["n"], commits++);
        });
        const last = first.set(["last"], 1);
        await first.close();
        isBusy = false;
        await Promise.all([last, ...busy]);
        expect((await second.get(["last"])).value).toBe(1);
      });
    });
  });

  it("opens what is just being closed, when that is done", async () => {
    await withFolder(async (folder) => {
      for (let round = 0; round < 5; round++) {
        const kv = await openKv(folder);
        const set = kv.set(["round", round], round);
        const closing = kv.close();
        const again = await openKv(folder);
        expect((await again.get(["round", round])).value).toBe(round);
        await Promise.all([set, closing, again.close()]);
      }
    });
  });

  it("takes twenty that open and close it at once", async () => {
    await withFolder(async (folder) => {
      await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          for (let turn = 0; turn < n % 5; turn++) await new Promise(setImmediate);
          const kv = await openKv(folder, { durability: "relaxed" });
          await kv.set(["n", n], n);
          await kv.close();
        }),
      );
      await withOpen(async (open) => {
        const kv = await open(folder);
        const keys = Array.from({ length: 20 }, (_, n) => ["n", n]);
        const entries = await kv.getMany(keys);
        expect(entries.map((entry) => entry.value)).toEqual(keys.map(([, n]) => n));
        expect(new Set(entries.map((entry) => entry.versionstamp)).size).toBe(20);
      });
      await expectUnlocked(folder);
    });
  });

  it("refuses a file, and a path below a file, and leaves the file alone", async () => {
    await withFolder(async (folder) => {
      const file = join(folder, "file");
      await writeFile(file, "theirs");
      for (const path of [file, join(file, "below"), join(file, "far", "below")]) {
        await expect(openKv(path)).rejects.toMatchObject({
          code: "KW_DATABASE_PATH_INVALID",
          path,
          retryable: false,
        });
      }
      expect(await readFile(file, "utf8")).toBe("theirs");
    });
  });

  it.each([
    ["postgres://db1/app", "is a URL that postgresEngine of @keywright/postgres opens"],
    ["etcds://db1,db2", "is a URL that etcdEngine of @keywright/etcd opens"],
    ["lmdb:app.mdb", "is a URL that lmdbEngine of @keywright/lmdb opens"],
    ["sqlite:app.sqlite", "is a URL that sqliteEngine of @keywright/sqlite opens"],
    ["redis://db1", "is a URL, but no server of Keywright has the scheme redis"],
  ])("refuses %s, which would be a new folder as a path", async (url, reason) => {
    await expect(openKv(url)).rejects.toMatchObject({
      code: "KW_OPTION_INVALID",
      option: "where",
      reason: expect.stringContaining(reason),
    });
    expect(existsSync(url.replace(/:.*/, ":"))).toBe(false);
  });

  it("refuses a folder that holds other files, and adds nothing to it", async () => {
    for (const name of ["notes.txt", "data.log", "000001.txt", "LOCKED", ".git"]) {
      await withFolder(async (folder) => {
        await writeFile(join(folder, name), "theirs");
        await writeFile(join(folder, "LOG"), "theirs");
        await expect(openKv(folder)).rejects.toMatchObject({
          code: "KW_DATABASE_PATH_INVALID",
          path: folder,
        });
        expect((await readdir(folder)).sort()).toEqual(["LOG", name].sort());
        expect(await readFile(join(folder, "LOG"), "utf8")).toBe("theirs");
      });
    }
    await withFolder(async (folder) => {
      await mkdir(join(folder, "subfolder"));
      await expect(openKv(folder)).rejects.toMatchObject({ code: "KW_DATABASE_PATH_INVALID" });
      expect(await readdir(folder)).toEqual(["subfolder"]);
    });
  });

  it("opens a folder in which LevelDB was stopped before it had a database", async () => {
    await withFolder(async (folder) => {
      for (const name of ["LOCK", "LOG", "LOG.old", "MANIFEST-000001", "000001.dbtmp"])
        await writeFile(join(folder, name), "");
      await withOpen(async (open) => {
        const kv = await open(folder);
        await kv.set(["a"], 1);
      });
    });
  });

  it("does not begin anew where a file of the database is missing", async () => {
    await withFolder(async (folder) => {
      const kv = await openKv(folder);
      await kv.set(["a"], 1);
      await kv.close();
      await rm(join(folder, "CURRENT"));
      const files = await readdir(folder);
      await expect(openKv(folder)).rejects.toMatchObject({ code: "KW_CORRUPTION" });
      expect(await readdir(folder)).toEqual(files);
      const manifest = files.find((name) => name.startsWith("MANIFEST-"));
      await writeFile(join(folder, "CURRENT"), `${manifest}\n`);
      await withOpen(async (open) => {
        expect((await (await open(folder)).get(["a"])).value).toBe(1);
      });
    });
  });

  it("says that a damaged file of LevelDB's is damaged", async () => {
    await withFolder(async (folder) => {
      const kv = await openKv(folder);
      await kv.set(["a"], 1);
      await kv.close();
      const manifest = (await readdir(folder)).find((name) => name.startsWith("MANIFEST-"))!;
      const bytes = await readFile(join(folder, manifest));
      bytes[bytes.length - 1]! ^= 0xff;
      await writeFile(join(folder, manifest), bytes);
      await expect(openKv(folder)).rejects.toMatchObject({ code: "KW_CORRUPTION" });
      // A failed attempt is not remembered.
      bytes[bytes.length - 1]! ^= 0xff;
      await writeFile(join(folder, manifest), bytes);
      await withOpen(async (open) => {
        expect((await (await open(folder)).get(["a"])).value).toBe(1);
      });
    });
  });

  it("refuses a LevelDB database of another program, and leaves it as it was and unlocked", async () => {
    await withFolder(async (folder) => {
      const theirs = new ClassicLevel(folder);
      await theirs.put("user:1", "Ada");
      await theirs.close();
      const attempts = await Promise.allSettled([openKv(folder), openKv(folder), openKv(folder)]);
      for (const attempt of attempts)
        expect(attempt).toMatchObject({
          status: "rejected",
          reason: { code: "KW_DATABASE_FORMAT" },
        });
      await theirs.open();
      expect(await theirs.iterator().all()).toEqual([["user:1", "Ada"]]);
      await theirs.close();
    });
  });
});

describe("openKv on a database that was handed in", () => {
  it("stores in it, whatever its encodings are", async () => {
    for (const options of [
      {},
      { keyEncoding: "utf8", valueEncoding: "json" },
      { storeEncoding: "view" },
    ] as const) {
      const level = new MemoryLevel(options as object);
      const kv = await openKv(handedIn(level));
      await kv.set(["a", Uint8Array.of(0, 255)], { bytes: Uint8Array.of(255) });
      expect((await kv.get(["a", Uint8Array.of(0, 255)])).value).toEqual({
        bytes: Uint8Array.of(255),
      });
      await kv.close();
      expect(level.status).toBe("closed");
      const again = await openKv(handedIn(level));
      expect((await again.get(["a", Uint8Array.of(0, 255)])).value).toEqual({
        bytes: Uint8Array.of(255),
      });
      await again.close();
    }
  });

  it("shares it where it was handed in before, and closes it with the last", async () => {
    const level = new MemoryLevel();
    const [first, second] = await Promise.all([openKv(handedIn(level)), openKv(handedIn(level))]);
    await first.set(["a"], 1);
    expect((await second.get(["a"])).value).toBe(1);
    await first.close();
    expect(level.status).toBe("open");
    await second.set(["b"], 1);
    await second.close();
    expect(level.status).toBe("closed");
  });

  it("leaves it open where it is not Keywright's", async () => {
    const level = new MemoryLevel();
    try {
      await level.put("user:1", "Ada");
      await expect(openKv(handedIn(level))).rejects.toMatchObject({ code: "KW_DATABASE_FORMAT" });
      expect(level.status).toBe("open");
      expect(await level.iterator().all()).toEqual([["user:1", "Ada"]]);
    } finally {
      await level.close();
    }
  });

  it("is one database with the path that it lies at", async () => {
    await withFolder(async (folder) => {
      const level = new ClassicLevel(folder);
      const kv = await openKv(handedIn(level));
      try {
        await kv.set(["a"], 1);
        await expect(openKv(folder)).rejects.toMatchObject({ code: "KW_DATABASE_LOCKED" });
      } finally {
        await kv.close();
      }
      await withOpen(async (open) => {
        expect((await (await open(folder)).get(["a"])).value).toBe(1);
      });
    });
  });
});

describe("a handle", () => {
  /**
   * A database in memory that records the `sync` of its batches and can be made to fail.
   */
  function watched(): {
    level: LevelDatabase;
    synced: boolean[];
    failWith: (error: Error) => void;
  } {
    const level = new MemoryLevel();
    const synced: boolean[] = [];
    let failure: Error | undefined;
    const batch = level.batch.bind(level) as () => { write: (options?: object) => Promise<void> };
    Object.assign(level, {
      batch: () => {
        const chained = batch();
        const write = chained.write.bind(chained);
        return Object.assign(chained, {
          write: async (options?: { sync?: boolean }) => {
            synced.push(options?.sync ?? false);
            if (failure !== undefined) throw failure;
            await write(options);
          },
        });
      },
    });
    return {
      level: handedIn(level),
      synced,
      failWith: (error) => {
        failure = error;
      },
    };
  }

  it("has its commits synced to disk, unless it was opened as relaxed", async () => {
    const { level, synced } = watched();
    await withOpen(async (open) => {
      await (await open(level)).set(["a"], 1);
      await (await open(level, { durability: "full" })).set(["a"], 1);
      await (await open(level, { durability: "relaxed" })).set(["a"], 1);
      expect(synced).toEqual([true, true, false]);
    });
  });

  it("refuses all commits after a failed one, still reads, and can be closed and opened again", async () => {
    const { level, failWith } = watched();
    const kv = await openKv(level);
    await kv.set(["a"], 1);
    const cause = new Error("no space left");
    failWith(cause);
    const failed = { code: "KW_ENGINE_FAILED", cause };
    await expect(kv.set(["a"], 2)).rejects.toMatchObject(failed);
    await expect(kv.delete(["a"])).rejects.toMatchObject(failed);
    await expect(kv.atomic().commit()).rejects.toMatchObject(failed);
    expect((await kv.get(["a"])).value).toBe(1);
    await kv.close();
    await withOpen(async (open) => {
      expect((await (await open(level)).get(["a"])).value).toBe(1);
    });
  });

  it("says which key's value is damaged, also where the checksum matches", async () => {
    const level = new MemoryLevel<Uint8Array, Uint8Array>({
      keyEncoding: "view",
      valueEncoding: "view",
    });
    await withOpen(async (open) => {
      const kv = await open(handedIn(level));
      const key = encodeKey(["a"]);
      const value = Uint8Array.of(0x7f, 1, 2);
      const entry = { key, value, versionstamp: "0".repeat(20), expireAt: undefined };
      const record = new Uint8Array(recordSize(entry));
      encodeRecord(entry, record);
      await level.put(key, record);
      await expect(kv.get(["a"])).rejects.toMatchObject({
        code: "KW_CORRUPTION",
        key,
        cause: { code: "KW_VALUE_MALFORMED" },
      });
      const iterator = kv.list({ prefix: [] });
      await expect(iterator.next()).rejects.toMatchObject({ code: "KW_CORRUPTION" });
      expect(iterator.cursor).toBe("");
    });
  });

  it("is closed at the end of its block", async () => {
    const kv = await openKv();
    await kv[Symbol.asyncDispose]();
    await expect(kv.get(["a"])).rejects.toMatchObject({ code: "KW_DATABASE_CLOSED" });
  });

  it("closes what is bound to a block that is not asynchronous, and lets its commits be finished", async () => {
    await withFolder(async (folder) => {
      const kv = await openKv(folder);
      const commit = kv.set(["a"], 1);
      kv[Symbol.dispose]();
      await expect(kv.get(["a"])).rejects.toMatchObject({ code: "KW_DATABASE_CLOSED" });
      expect((await commit).ok).toBe(true);
      await withOpen(async (open) => {
        expect((await (await open(folder)).get(["a"])).value).toBe(1);
      });
    });
  });

  it("takes messages for a function only", async () => {
    await withOpen(async (open) => {
      const kv = await open();
      const listening = kv.listenQueue(5 as unknown as () => void);
      await expect(listening).rejects.toMatchObject({
        code: "KW_OPTION_INVALID",
        option: "handler",
      });
    });
  });

  it("awaited where its commit was forgotten, an atomic operation says so", async () => {
    await withOpen(async (open) => {
      const kv = await open();
      const forgotten = async () => await (kv.atomic().set(["a"], 1) as unknown as Promise<void>);
      await expect(forgotten()).rejects.toMatchObject({ code: "KW_COMMIT_MISSING" });
      expect((await kv.get(["a"])).value).toBe(null);
    });
  });
});

describe("openKv for reading only", () => {
  it("reads and watches, and refuses every write", async () => {
    await withFolder(async (folder) => {
      const writer = await openKv(folder);
      const { versionstamp } = await writer.set(["a"], 1);
      await writer.close();
      await withOpen(async (open) => {
        const kv = await open(folder, { readOnly: true });
        expect(await kv.get(["a"])).toEqual({ key: ["a"], value: 1, versionstamp });
        const reader = kv.watch<[number]>([["a"]]).getReader();
        expect((await reader.read()).value![0].value).toBe(1);
        const refused = { code: "KW_DATABASE_READ_ONLY" };
        await expect(kv.set(["a"], 2)).rejects.toMatchObject(refused);
        await expect(kv.delete(["a"])).rejects.toMatchObject(refused);
        await expect(kv.atomic().commit()).rejects.toMatchObject(refused);
        await expect(kv.enqueue(1)).rejects.toMatchObject(refused);
        await expect(kv.listenQueue(() => undefined)).rejects.toMatchObject(refused);
        expect((await kv.get(["a"])).value).toBe(1);
      });
    });
  });

  it("makes no database, and no folder", async () => {
    await withFolder(async (folder) => {
      for (const path of [join(folder, "absent"), folder]) {
        await expect(openKv(path, { readOnly: true })).rejects.toMatchObject({
          code: "KW_DATABASE_NOT_FOUND",
          path,
        });
      }
      expect(await readdir(folder)).toEqual([]);
    });
    await expect(openKv(handedIn(new MemoryLevel()), { readOnly: true })).rejects.toMatchObject({
      code: "KW_DATABASE_FORMAT",
    });
  });

  it("holds for its handle, not for the others of the same database", async () => {
    await withFolder(async (folder) => {
      await withOpen(async (open) => {
        const writer = await open(folder);
        const reader = await open(folder, { readOnly: true });
        await writer.set(["a"], 1);
        expect((await reader.get(["a"])).value).toBe(1);
        await expect(reader.set(["a"], 2)).rejects.toMatchObject({ code: "KW_DATABASE_READ_ONLY" });
      });
    });
  });
});

describe("the mode of a database", () => {
  it("is remembered, and the other one is refused, whether it is open or not", async () => {
    await withFolder(async (folder) => {
      for (const [made, other] of [
        [{}, { compat: "deno" }],
        [{ compat: "deno" }, {}],
      ] as const) {
        const path = join(folder, JSON.stringify(made).replace(/\W/g, "_"));
        const refused = {
          code: "KW_DATABASE_MODE",
          mode: "compat" in made ? "deno" : "specification",
        };
        const kv = await openKv(path, made);
        await expect(openKv(path, other)).rejects.toMatchObject(refused);
        await kv.set(["a"], 1);
        await kv.close();
        await expect(openKv(path, other)).rejects.toMatchObject(refused);
        await expectUnlocked(path);
        const again = await openKv(path, made);
        expect((await again.get(["a"])).value).toBe(1);
        await again.close();
      }
    });
  });
});

describe("openings at once with different options", () => {
  it("fail or succeed each for its own", async () => {
    const level = handedIn(new MemoryLevel());
    await (await openKv(level)).close();
    for (let round = 0; round < 20; round++) {
      const [deno, own, again] = await Promise.allSettled([
        openKv(level, { compat: "deno" }),
        openKv(level),
        openKv(level),
      ]);
      expect([deno.status, own.status, again.status]).toEqual([
        "rejected",
        "fulfilled",
        "fulfilled",
      ]);
      for (const each of [own, again]) if (each.status === "fulfilled") await each.value.close();
    }
    const empty = handedIn(new MemoryLevel());
    const [reader, writer] = await Promise.allSettled([
      openKv(empty, { readOnly: true }),
      openKv(empty),
    ]);
    expect([reader.status, writer.status]).toEqual(["rejected", "fulfilled"]);
    if (writer.status === "fulfilled") await writer.value.close();
  });
});

describe("a place that is none", () => {
  it.each([null, "", 5, new URL("file:///tmp"), {}])("%s is refused", async (where) => {
    await expect(openKv(where as string)).rejects.toMatchObject({
      code: "KW_OPTION_INVALID",
      option: "where",
    });
  });
});

describe("an option of openKv", () => {
  it.each([
    ["durability", { durability: "none" }],
    ["compat", { compat: "node" }],
    ["limits.keys", { limits: { keys: -1 } }],
    ["durabilty", { durabilty: "relaxed" }],
    ["createIfMissing", { createIfMissing: "no" }],
  ])("%s that is not valid is refused, and nothing is opened", async (option, options) => {
    await withFolder(async (folder) => {
      const path = join(folder, "data");
      await expect(openKv(path, options as Parameters<typeof openKv>[1])).rejects.toMatchObject({
        code: "KW_OPTION_INVALID",
        option,
      });
      expect(await readdir(folder)).toEqual([]);
    });
  });
});
