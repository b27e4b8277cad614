import { mkdir, open, readdir, readFile, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { crc32c } from "../src/bytes/crc32c.js";
import { readLogRecords } from "../src/engine/level/files/log-records.js";
import { holdLock } from "../src/engine/level/repair/hold-lock.js";
import { lastVersionstampOf } from "../src/engine/level/repair/last-versionstamp-of.js";
import { type EmbeddedKv, openKv, repairDatabase, verifyFiles } from "../src/index.js";
import { appendRecord, filesOf, stateLaterSequence } from "./level-folder.js";
import { runCode } from "./run-in-process.js";
import { withFolder } from "./temporary-folder.js";

const commits = 60;

/** Runs a body with a closed database whose commits are all in one log. */
async function withDatabase(body: (path: string, folder: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, "kv");
    await using kv = await openKv(path, { durability: "relaxed" });
    for (let n = 0; n < commits; n++)
      await Promise.all([
        kv.atomic().set(["left", n], "x".repeat(500)).set(["right", n], n).commit(),
        kv.set(["beside", n], n),
      ]);
    await kv.close();
    await body(path, folder);
  });
}

async function zero(path: string, from: number, bytes: number): Promise<void> {
  const file = await open(path, "r+");
  await file.write(new Uint8Array(bytes), 0, bytes, from);
  await file.close();
}

async function logOf(path: string): Promise<string> {
  const [log] = (await readdir(path)).filter((name) => name.endsWith(".log"));
  return join(path, log!);
}

/** Calls a function of the built package in another process. Returns the code of its error. */
async function inOtherProcess(name: string, path: string, options: object): Promise<unknown> {
  const call = `${name}(${JSON.stringify(path)}, ${JSON.stringify(options)})`;
  const output = await runCode(`
    await ${call}.then(() => console.log("{}"), ({ code }) => console.log(JSON.stringify({ code })));
    process.exit();`);
  return JSON.parse(output);
}

/** Returns the number of first commits that are there. Fails if there are others. */
async function keptCommits(kv: EmbeddedKv): Promise<number> {
  const counts = await Promise.all(
    ["left", "right"].map(async (name) => {
      const found: unknown[] = [];
      for await (const { key } of kv.list({ prefix: [name] })) found.push(key[1]);
      expect(found).toEqual(found.map((_, n) => n));
      return found.length;
    }),
  );
  expect(counts[0]).toBe(counts[1]);
  return counts[0]!;
}

describe("repairDatabase", () => {
  it("cuts a copy back to the commits before the damage, and counts the others", async () => {
    await withDatabase(async (path, folder) => {
      const log = await logOf(path);
      await zero(log, Math.floor((await stat(log)).size / 2), 100);
      await expect(openKv(path)).rejects.toMatchObject({ code: "KW_CORRUPTION" });
      const before = await filesOf(path, "");
      const to = join(folder, "copy");
      const report = await repairDatabase(path, { to });
      const after = (await filesOf(path, "")).filter(([name]) => name !== "LOCK");
      expect(after).toEqual(before.filter(([name]) => name !== "LOCK"));
      expect(report.path).toBe(to);
      expect((await verifyFiles(to)).damages).toEqual([]);
      await using kv = await openKv(to);
      const kept = await keptCommits(kv);
      expect(kept).toBeGreaterThan(0);
      // The damage may extend over two groups. Then the size of the first one is unknown.
      const lost = 2 * (commits - kept);
      expect([lost - 1, lost]).toContain(report.lostCommits);
      const { versionstamp } = await kv.set(["next"], 1);
      expect(versionstamp > report.lastVersionstamp).toBe(true);
    });
  });

  it("repairs a database in place, wherever its log is damaged", async () => {
    for (const part of [0, 0.3, 0.99]) {
      await withDatabase(async (path) => {
        const log = await logOf(path);
        const from = Math.floor((await stat(log)).size * part);
        await zero(log, from, 50);
        await expect(openKv(path)).rejects.toMatchObject({ code: "KW_CORRUPTION" });
        const { lostCommits } = await repairDatabase(path, { inPlace: true });
        await using kv = await openKv(path);
        expect(lostCommits).toBeGreaterThanOrEqual(1);
        expect(await keptCommits(kv)).toBeGreaterThanOrEqual(Math.floor((part * commits) / 2));
        await kv.set(["left", "next"], 1);
      });
    }
  });

  it("leaves a whole database as it is", async () => {
    await withDatabase(async (path) => {
      await (await openKv(path)).close();
      const progress: unknown[] = [];
      const onProgress = (each: unknown) => progress.push(each);
      const report = await repairDatabase(path, { inPlace: true, onProgress });
      expect(report).toMatchObject({ cuts: [], lostCommits: 0 });
      expect(progress).toMatchObject([{ phase: "checking", done: expect.any(Number) }]);
      await using kv = await openKv(path);
      expect(await keptCommits(kv)).toBe(commits);
    });
  });

  it("replaces a missing log, which held all commits", async () => {
    await withDatabase(async (path) => {
      const log = await logOf(path);
      await writeFile(log, "");
      await expect(openKv(path)).rejects.toMatchObject({ code: "KW_CORRUPTION" });
      await repairDatabase(path, { inPlace: true });
      await using kv = await openKv(path);
      expect(await keptCommits(kv)).toBe(0);
    });
  });

  it("cuts off a log that does not continue the one before, also after tables were merged", async () => {
    await withDatabase(async (path) => {
      const log = await logOf(path);
      const { records } = readLogRecords(await readFile(log));
      await writeFile(log, "");
      const next = join(path, "999999.log");
      for (const record of records.slice(0, 5)) await appendRecord(log, record);
      for (const record of records.slice(6, 10)) await appendRecord(next, record);
      await rm(join(path, "keywright.closed"), { force: true });
      await stateLaterSequence(path);
      const { cuts } = await repairDatabase(path, { inPlace: true });
      expect(cuts).toMatchObject([{ file: "999999.log", size: 0 }]);
    });
  });

  it("refuses an open database, in this and in another process", async () => {
    await withDatabase(async (path, folder) => {
      const to = join(folder, "copy");
      const kv = await openKv(path);
      const refused = { code: "KW_DATABASE_LOCKED" };
      await expect(repairDatabase(path, { to })).rejects.toMatchObject(refused);
      expect(await inOtherProcess("repairDatabase", path, { inPlace: true })).toEqual(refused);
      await kv.close();
      expect((await readdir(path)).filter((name) => name.startsWith("repair-"))).toEqual([]);
    });
  });

  it("says that a program has opened the repaired database before it was verified", async () => {
    await withDatabase(async (path) => {
      await using _kv = await openKv(path);
      await expect(lastVersionstampOf(path)).rejects.toMatchObject({ code: "KW_DATABASE_LOCKED" });
    });
  });

  it("locks the database for other processes", async () => {
    await withDatabase(async (path) => {
      const release = await holdLock(path);
      const refused = { code: "KW_DATABASE_LOCKED" };
      expect(await inOtherProcess("openKv", path, {})).toEqual(refused);
      await release();
      expect(await inOtherProcess("repairDatabase", path, { inPlace: true })).toEqual({});
    });
  });

  it("refuses what it cannot repair, and changes nothing", async () => {
    await withDatabase(async (path, folder) => {
      const missing = join(folder, "missing");
      await expect(repairDatabase(missing, { inPlace: true })).rejects.toMatchObject({
        code: "KW_DATABASE_NOT_FOUND",
      });
      await mkdir(missing);
      await expect(repairDatabase(path, { to: missing })).rejects.toMatchObject({
        code: "KW_DATABASE_PATH_INVALID",
      });
      for (const options of [{}, { to: missing, inPlace: true }])
        await expect(repairDatabase(path, options)).rejects.toMatchObject({
          code: "KW_OPTION_INVALID",
        });
      const manifest = (await readFile(join(path, "CURRENT"), "utf8")).trim();
      await zero(join(path, manifest), 10, 20);
      await expect(repairDatabase(path, { inPlace: true })).rejects.toMatchObject({
        code: "KW_CORRUPTION",
        file: manifest,
      });
    });
  });

  it.each([
    ["a key that is too long", 20, [0xff]],
    ["a sequence number that would end the process", 7, new Array<number>(8).fill(0xff)],
  ])("refuses a record that matches its checksum and has %s", async (_name, offset, changed) => {
    await withDatabase(async (path) => {
      const [[log, bytes] = ["", new Uint8Array(0)]] = await filesOf(path, ".log");
      bytes.set(changed, offset);
      // The length of the first record is at byte 4, and its type at byte 6.
      const crc = crc32c(bytes, 6, 7 + bytes[4]! + 256 * bytes[5]!);
      const masked = ((crc >>> 15) | (crc << 17)) + 0xa282ead8;
      new DataView(bytes.buffer).setUint32(0, masked, true);
      await writeFile(join(path, log), bytes);
      const refusal = { code: "KW_CORRUPTION", file: log };
      await expect(repairDatabase(path, { inPlace: true })).rejects.toMatchObject(refusal);
      if (offset === 7) await expect(openKv(path)).rejects.toMatchObject(refusal);
    });
  });

  it("fails with an error that has a code if a file cannot be copied, and can be repeated", async () => {
    await withDatabase(async (path, folder) => {
      // A folder cannot be copied as a file.
      const unreadable = join(path, "000099.ldb");
      await mkdir(unreadable);
      const to = join(folder, "repaired");
      await expect(repairDatabase(path, { to })).rejects.toMatchObject({
        code: "KW_ENGINE_FAILED",
        operation: "repair",
      });
      await rmdir(unreadable);
      expect(await repairDatabase(path, { to })).toMatchObject({ lostCommits: 0 });
    });
  });
});
