import { MemoryLevel } from "memory-level";
import { describe, it } from "vitest";
import type { LevelDatabase } from "../src/engine/level/level-engine.js";
import { openKv } from "../src/kv/open-kv.js";
import { kvContract } from "./kv-contract.js";
import { compareWithModel } from "./kv-model.js";
import { makeFolder, removeFolder, withFolder } from "./temporary-folder.js";

kvContract(
  { describe, it },
  {
    name: "Kv in memory",
    create: async () => {
      const kv = await openKv();
      return { kv, dispose: () => kv.close() };
    },
  },
);

kvContract(
  { describe, it },
  {
    name: "Kv on disk",
    create: async () => {
      const folder = await makeFolder();
      const kv = await openKv(folder, { durability: "relaxed" });
      return {
        kv,
        dispose: async () => {
          await kv.close();
          await removeFolder(folder);
        },
      };
    },
  },
);

// It answers every read in promises, and keeps its keys and values as Buffers.
kvContract(
  { describe, it },
  {
    name: "Kv on a database that was handed in",
    create: async () => {
      const level = new MemoryLevel();
      Object.assign(level.supports, { getSync: false, explicitSnapshots: false });
      const kv = await openKv(level as unknown as LevelDatabase);
      return { kv, dispose: () => kv.close() };
    },
  },
);

describe("a database and a sorted list answer the same", { timeout: 60_000 }, () => {
  it("in memory", () => compareWithModel(() => openKv(), 150));

  it("on disk", async () => {
    await withFolder(async (folder) => {
      let databases = 0;
      await compareWithModel(
        () => openKv(`${folder}/${databases++}`, { durability: "relaxed" }),
        20,
      );
    });
  });
});
