import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { expect, it } from "vitest";
import { createLevelFiles } from "../src/kv/open/level/create-level-files.js";
import { openKv } from "../src/kv/open-kv.js";
import { withFolder } from "./temporary-folder.js";

it("creates an empty database that LevelDB opens", async () => {
  await withFolder(async (folder) => {
    await createLevelFiles(folder);
    expect((await readdir(folder)).sort()).toEqual(["CURRENT", "MANIFEST-000001"]);
    const level = new ClassicLevel(folder, { createIfMissing: false });
    await level.open();
    expect(await level.keys().all()).toEqual([]);
    await level.close();
  });
});

it("leaves a folder that can be opened, whichever of its files are there", async () => {
  await withFolder(async (folder) => {
    for (const names of [["1.dbtmp"], ["MANIFEST-000001"], ["MANIFEST-000001", "2.dbtmp"]]) {
      const partial = join(folder, names.join());
      await mkdir(partial);
      for (const name of names) await writeFile(join(partial, name), "");
      await using kv = await openKv(partial);
      await kv.set(["a"], 1);
      expect((await kv.get(["a"])).value).toBe(1);
    }
  });
});

it("changes nothing in a database that another process has created since", async () => {
  await withFolder(async (folder) => {
    await using kv = await openKv(folder);
    await kv.set(["a"], 1);
    const current = await readFile(join(folder, "CURRENT"), "utf8");
    await createLevelFiles(folder);
    expect(await readFile(join(folder, "CURRENT"), "utf8")).toBe(current);
    await kv.set(["b"], 2);
    await kv.close();
    await using reopened = await openKv(folder);
    const [a, b] = await reopened.getMany([["a"], ["b"]]);
    expect([a!.value, b!.value]).toEqual([1, 2]);
  });
});
