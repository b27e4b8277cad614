import { MemoryLevel } from "memory-level";
import { describe, it } from "vitest";
import type { LevelDatabase } from "../src/engine/level/level-engine.js";
import type { EmbeddedKv } from "../src/kv/embedded-kv.js";
import { openKv } from "../src/kv/open-kv.js";
import { type KvStore, kvContract } from "../src/testing/index.js";
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
    capabilities: ["reopen"],
    create: async () => {
      const folder = await makeFolder();
      const open = () => openKv(folder, { durability: "relaxed" });
      return storeOf(open, () => removeFolder(folder));
    },
  },
);

// It answers every read in promises, and keeps its keys and values as Buffers.
kvContract(
  { describe, it },
  {
    name: "Kv on a database that was handed in",
    capabilities: ["reopen"],
    create: async () => {
      const level = new MemoryLevel();
      Object.assign(level.supports, { getSync: false, explicitSnapshots: false });
      return storeOf(() => openKv(level as unknown as LevelDatabase));
    },
  },
);

async function storeOf(
  open: () => Promise<EmbeddedKv>,
  remove: () => Promise<void> = async () => undefined,
): Promise<KvStore> {
  let kv = await open();
  return {
    kv,
    reopen: async () => {
      await kv.close();
      kv = await open();
      return kv;
    },
    dispose: async () => {
      await kv.close();
      await remove();
    },
  };
}

describe("a database and a sorted list answer the same", () => {
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
