import { link, readdir, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readDatabaseFiles } from "../src/engine/level/files/database-files.js";
import { openWithLogs } from "../src/engine/level/open-with-logs.js";
import { openKv } from "../src/kv/open-kv.js";
import { openLevel } from "./level-folder.js";
import { withFolder } from "./temporary-folder.js";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Commits to a new database and returns the path of its log. */
async function makeDatabase(folder: string): Promise<string> {
  await using kv = await openKv(folder, { durability: "relaxed" });
  await kv.set(["a"], 1);
  await kv.set(["b"], 2);
  const logs = (await readdir(folder)).filter((name) => name.endsWith(".log"));
  expect(logs).toHaveLength(1);
  return join(folder, logs[0]!);
}

async function expectWhole(folder: string): Promise<void> {
  await using kv = await openKv(folder);
  expect(await kv.get(["a"])).toMatchObject({ value: 1 });
  expect(await kv.get(["b"])).toMatchObject({ value: 2 });
  expect((await readdir(folder)).filter((name) => name.includes("saved"))).toEqual([]);
}

describe("a log that LevelDB does not read", () => {
  it("is not lost, and the database is not opened without it", () =>
    withFolder(async (folder) => {
      const log = await makeDatabase(folder);
      const original = ClassicLevel.prototype.open;
      const open = vi.spyOn(ClassicLevel.prototype, "open");
      open.mockImplementation(async function (this: ClassicLevel) {
        // LevelDB deletes a log that it cannot open, for example for lack of file descriptors.
        await rm(log, { force: true });
        await original.call(this, {});
      });
      await expect(openKv(folder)).rejects.toMatchObject({
        code: "KW_ENGINE_FAILED",
        operation: "open",
        message: expect.stringContaining("LevelDB has not read its log") as string,
      });
      open.mockRestore();
      await expectWhole(folder);
      await expectWhole(folder);
    }));

  it("is found by the next process if this one is killed", () =>
    withFolder(async (folder) => {
      const log = await makeDatabase(folder);
      await link(log, `${log}.saved-1`);
      await rm(log);
      const level = openLevel(folder);
      await level.open();
      await level.close();
      await expect(openKv(folder)).rejects.toMatchObject({ code: "KW_ENGINE_FAILED" });
      await expectWhole(folder);
    }));
});

it("a log that another process has kept and removed again does not prevent opening", () =>
  withFolder(async (folder) => {
    const log = await makeDatabase(folder);
    // A file that is listed and cannot be read, as if it was removed in between.
    await symlink(`${log}.gone`, `${log}.saved-1`);
    await expectWhole(folder);
    expect((await readdir(folder)).filter((name) => name.includes("saved"))).toEqual([]);
  }));

it("a log that LevelDB has read is not kept, and brings no deleted entry back", () =>
  withFolder(async (folder) => {
    const log = await makeDatabase(folder);
    await link(log, `${log}.saved-1`);
    await using kv = await openKv(folder);
    await kv.delete(["a"]);
    await kv.close();
    await using again = await openKv(folder);
    expect(await again.get(["a"])).toMatchObject({ value: null });
    expect((await readdir(folder)).filter((name) => name.includes("saved"))).toEqual([]);
  }));

it("the second name of a log is removed if the database is locked", () =>
  withFolder(async (folder) => {
    await makeDatabase(folder);
    await using level = openLevel(folder);
    await level.open();
    await expect(openKv(folder)).rejects.toMatchObject({ code: "KW_DATABASE_LOCKED" });
    expect((await readdir(folder)).filter((name) => name.includes("saved"))).toEqual([]);
  }));

it("a log that another process has replaced since is not needed", () =>
  withFolder(async (folder) => {
    await makeDatabase(folder);
    const { logs } = await readDatabaseFiles(folder);
    expect(logs).toHaveLength(1);
    const replaced = logs.map((log) => ({ ...log, name: "000001.log" }));
    const level = await openWithLogs(folder, replaced, { createIfMissing: false });
    await level.close();
    await expectWhole(folder);
  }));

it("the log has 8 MiB before it becomes a table", () =>
  withFolder(async (folder) => {
    await using kv = await openKv(folder, { durability: "relaxed" });
    const logs = async () => (await readdir(folder)).filter((name) => name.endsWith(".log"));
    const [first] = await logs();
    const mebibyte = 2 ** 20;
    const write = async (count: number) => {
      for (let n = 0; n < count; n++) await kv.set([n], new Uint8Array(mebibyte / 2));
    };
    await write(14);
    expect(await logs()).toEqual([first]);
    expect((await stat(join(folder, first!))).size).toBeGreaterThan(7 * mebibyte);
    await write(4);
    expect(await logs()).not.toEqual([first]);
  }));
