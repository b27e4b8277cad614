import { mkdir, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writesOfLog } from "../src/engine/level/repair/writes-of-log.js";
import {
  type EmbeddedKv,
  type OpenKvOptions,
  openKv,
  type Progress,
  repairDatabase,
  rescueDatabase,
  verifyFiles,
} from "../src/index.js";
import { filesOf } from "./level-folder.js";
import { withFolder } from "./temporary-folder.js";

const rows = 300;

interface Folders {
  readonly path: string;
  readonly to: string;
  /** What the database contains. */
  readonly content: ReadonlyMap<string, unknown>;
}

/** Runs a body with a closed database that has tables and a log, and the folder of its rescue. */
async function withDatabase(
  body: (folders: Folders) => Promise<void>,
  options: OpenKvOptions = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, "kv");
    for (const session of [1, 2]) {
      await using kv = await openKv(path, { durability: "relaxed", ...options });
      const commits = [];
      for (let n = session; n < rows; n += session) {
        const atomic = kv.atomic().set(["row", n], { session, text: "x".repeat(50) });
        commits.push(atomic.set(["pair", n], session).commit());
      }
      await Promise.all(commits);
      await kv.delete(["row", session]);
    }
    await using kv = await openKv(path, { durability: "relaxed", ...options });
    for (let n = 0; n < 20; n++) await kv.set(["late", n], "y".repeat(5000));
    const content = await contentOf(kv);
    await kv.close();
    await body({ path, to: join(folder, "rescued"), content });
  });
}

async function zero(path: string, from: number, bytes: number): Promise<void> {
  const file = await open(path, "r+");
  await file.write(new Uint8Array(bytes), 0, bytes, from);
  await file.close();
}

async function contentOf(kv: EmbeddedKv): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for await (const { key, value } of kv.list({ prefix: [] })) found.set(key.join(), value);
  return found;
}

async function nameOf(path: string, part: string): Promise<string> {
  return (await readdir(path)).sort().find((name) => name.includes(part))!;
}

async function contentAt(path: string, options: OpenKvOptions = {}): Promise<Map<string, unknown>> {
  await using kv = await openKv(path, { createIfMissing: false, ...options });
  return await contentOf(kv);
}

describe("rescueDatabase", () => {
  it("rescues everything if only CURRENT or the manifest is lost or damaged", async () => {
    for (const [part, damage] of [
      ["CURRENT", rm],
      ["MANIFEST", (file: string) => zero(file, 3, 20)],
    ] as const)
      await withDatabase(async ({ path, to, content }) => {
        const name = await nameOf(path, part);
        await damage(join(path, name));
        await expect(openKv(path)).rejects.toMatchObject({ code: "KW_CORRUPTION" });
        const report = await rescueDatabase(path, { to });
        expect(report).toMatchObject({
          path: to,
          entries: content.size,
          damages: [{ file: name }],
        });
        expect((await verifyFiles(to)).damages).toEqual([]);
        expect(await contentAt(to)).toEqual(content);
      });
  });

  it("reports the keys of a table that is missing, and keeps the others", async () => {
    await withDatabase(async ({ path, to, content }) => {
      const name = await nameOf(path, ".ldb");
      await rm(join(path, name));
      const before = await filesOf(path, "");
      const { damages, lostCommits, entries } = await rescueDatabase(path, { to });
      expect(damages).toEqual([
        expect.objectContaining({ file: name, firstKey: expect.any(Uint8Array) }),
      ]);
      expect(lostCommits).toBe(0);
      const found = await contentAt(to);
      expect(entries).toBe(found.size);
      expect(found.size).toBeLessThan(content.size);
      for (let n = 0; n < 20; n++) expect(found.get(`late,${n}`)).toBe("y".repeat(5000));
      const isKept = ([file]: [string, Uint8Array]) => !file.startsWith("LOCK");
      expect((await filesOf(path, "")).filter(isKept)).toEqual(before.filter(isKept));
    });
  });

  it("keeps the commits after the damage of a log, and counts the lost ones", async () => {
    await withDatabase(async ({ path, to, content }) => {
      const log = await nameOf(path, ".log");
      const { length } = await readFile(join(path, log));
      await zero(join(path, log), Math.floor(length / 2), 1);
      const { lostCommits, damages } = await rescueDatabase(path, { to });
      expect({ lostCommits, damages }).toMatchObject({ lostCommits: 1, damages: [{ file: log }] });
      const found = await contentAt(to);
      const lost = [...content.keys()].filter((key) => !found.has(key));
      expect(lost).toEqual(["late,10"]);
    });
  });

  it("reads the blocks of a table without its index", async () => {
    await withDatabase(async ({ path, to, content }) => {
      for (const name of (await readdir(path)).filter((each) => each.endsWith(".ldb"))) {
        const { length } = await readFile(join(path, name));
        await zero(join(path, name), length - 48, 48);
      }
      const { damages } = await rescueDatabase(path, { to });
      expect(damages.length).toBeGreaterThan(0);
      for (const { reason } of damages) expect(reason).toBe("its footer is damaged");
      expect(await contentAt(to)).toEqual(content);
    });
  });

  it("writes entries in the order of their commits, and those of one commit together", async () => {
    await withDatabase(async ({ path, to }) => {
      await rm(join(path, "CURRENT"));
      await rescueDatabase(path, { to });
      await using kv = await openKv(to);
      const stampOf = async (name: string, n: number) => (await kv.get([name, n])).versionstamp!;
      for (const n of [3, 5, 8]) expect(await stampOf("row", n)).toBe(await stampOf("pair", n));
      expect((await stampOf("row", 5)) < (await stampOf("row", 4))).toBe(true);
      expect((await stampOf("row", 4)) < (await stampOf("late", 0))).toBe(true);
      expect((await kv.set(["next"], 1)).versionstamp > (await stampOf("late", 19))).toBe(true);
    });
  });

  it("keeps messages and expiry times", async () => {
    await withFolder(async (folder) => {
      const path = join(folder, "kv");
      const kv = await openKv(path);
      await kv.enqueue("hello");
      await kv.set(["soon"], 1, { expireIn: 20 });
      await kv.set(["later"], 1, { expireIn: 60_000 });
      const { expireAt } = (await kv.get(["later"])) as { expireAt?: number };
      await kv.close();
      await new Promise((resolve) => setTimeout(resolve, 25));
      await rm(join(path, "CURRENT"));
      const to = join(folder, "rescued");
      await rescueDatabase(path, { to });
      await using rescued = await openKv(to);
      expect(await rescued.get(["later"])).toMatchObject({ value: 1, expireAt });
      expect(await contentOf(rescued)).toEqual(new Map([["later", 1]]));
      const message = await new Promise((resolve) => void rescued.listenQueue(resolve));
      expect(message).toBe("hello");
    });
  });

  it("finds out the mode, also without the header", async () => {
    const options = { compat: "deno" } as const;
    await withDatabase(async ({ path, to, content }) => {
      await rm(join(path, "CURRENT"));
      await rescueDatabase(path, { to });
      expect(await contentAt(to, options)).toEqual(content);
      // The header is the first entry of all.
      for (const name of (await readdir(path)).filter((each) => each.endsWith(".ldb")))
        await zero(join(path, name), 0, 10);
      await rm(to, { recursive: true });
      await rescueDatabase(path, { to });
      expect((await contentAt(to, options)).size).toBeGreaterThan(20);
    }, options);
  });

  it("does not take the bytes of another log for its own", () => {
    return withFolder(async (folder) => {
      const inner = join(folder, "inner");
      const outer = join(folder, "outer");
      const logOf = async (path: string, value: unknown): Promise<Uint8Array> => {
        const kv = await openKv(path);
        for (let n = 0; n < 5; n++) await kv.set([path === inner ? "inner" : "outer", n], value);
        await kv.close();
        return Uint8Array.from((await filesOf(path, ".log"))[0]![1]);
      };
      const log = await logOf(outer, await logOf(inner, 1));
      const before = writesOfLog("000004.log", log).batches.length;
      log[log.length >> 1]! ^= 1;
      const { batches, writes } = writesOfLog("000004.log", log);
      expect(batches.length).toBe(before - 1);
      const text = writes.map(({ key }) => new TextDecoder("latin1").decode(key)).join();
      expect(text).not.toContain("inner");
    });
  });

  it("fails with a typed error if a file cannot be read", async () => {
    await withDatabase(async ({ path, to }) => {
      await rm(join(path, "CURRENT"));
      await mkdir(join(path, "999999.ldb"));
      await expect(rescueDatabase(path, { to })).rejects.toMatchObject({
        code: "KW_ENGINE_FAILED",
        operation: "read",
        path,
      });
      expect(await readdir(join(path, ".."))).toEqual(["kv"]);
    });
  });

  it("leaves nothing if the step before the end fails, and reports progress", async () => {
    await withDatabase(async ({ path, to }) => {
      const complete = () => Promise.reject(new Error("no"));
      await expect(rescueDatabase(path, { to, complete })).rejects.toThrow("no");
      expect((await readdir(join(path, ".."))).sort()).toEqual(["kv"]);
      const progress: Progress[] = [];
      await rescueDatabase(path, {
        to,
        complete: (kv) => kv.set(["completed"], true),
        onProgress: (each) => progress.push(each),
      });
      const { done, total } = progress.at(-1)!;
      expect(done).toBeGreaterThan(0);
      expect(done).toBe(total);
      expect((await contentAt(to)).get("completed")).toBe(true);
    });
  });

  it("refuses an existing folder, a folder without a database, and an open database", async () => {
    await withDatabase(async ({ path, to }) => {
      await mkdir(to);
      const exists = { code: "KW_DATABASE_PATH_INVALID" };
      await expect(rescueDatabase(path, { to })).rejects.toMatchObject(exists);
      await writeFile(join(to, "notes.txt"), "");
      await expect(rescueDatabase(to, { to: `${to}-2` })).rejects.toMatchObject({
        code: "KW_DATABASE_NOT_FOUND",
      });
      await using kv = await openKv(path);
      await expect(rescueDatabase(path, { to: `${to}-2` })).rejects.toMatchObject({
        code: "KW_DATABASE_LOCKED",
      });
      await kv.close();
      const reading = rescueDatabase(path, {
        to: `${to}-2`,
        complete: async () => {
          const locked = { code: "KW_DATABASE_LOCKED" };
          await expect(openKv(path)).rejects.toMatchObject(locked);
          await expect(repairDatabase(path, { inPlace: true })).rejects.toMatchObject(locked);
        },
      });
      await reading;
      await (await openKv(path)).close();
    });
  });
});
