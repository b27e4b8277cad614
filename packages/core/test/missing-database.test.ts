import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openKv } from "../src/kv/open-kv.js";
import { withFolder } from "./temporary-folder.js";

describe("a database that is not to be made", () => {
  const setting = Symbol.for("keywright.createIfMissing");
  const settings = globalThis as { [setting]?: boolean };

  it("is an error where it is not there, and the folder stays as it is", async () => {
    await withFolder(async (folder) => {
      for (const path of [join(folder, "deep", "absent"), folder]) {
        await expect(openKv(path, { createIfMissing: false })).rejects.toMatchObject({
          code: "KW_DATABASE_NOT_FOUND",
          path,
        });
      }
      expect(await readdir(folder)).toEqual([]);
      await writeFile(join(folder, "notes.txt"), "");
      await expect(openKv(folder, { createIfMissing: false })).rejects.toMatchObject({
        code: "KW_DATABASE_PATH_INVALID",
      });
    });
  });

  it("is opened for writing where it is there, open or not", async () => {
    await withFolder(async (folder) => {
      const first = await openKv(folder);
      const second = await openKv(folder, { createIfMissing: false });
      await second.set(["a"], 1);
      await first.close();
      await second.close();
      const third = await openKv(folder, { createIfMissing: false });
      expect((await third.get(["a"])).value).toBe(1);
      await third.close();
    });
  });

  it("is not made by any openKv while the process forbids it, and one in memory is", async () => {
    await withFolder(async (folder) => {
      const path = join(folder, "data");
      settings[setting] = false;
      try {
        await expect(openKv(path, { createIfMissing: true })).rejects.toMatchObject({
          code: "KW_DATABASE_NOT_FOUND",
        });
        await (await openKv()).close();
      } finally {
        delete settings[setting];
      }
      expect(await readdir(folder)).toEqual([]);
      await (await openKv(path)).close();
    });
  });
});
