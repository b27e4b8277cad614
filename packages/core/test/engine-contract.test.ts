import { ClassicLevel } from "classic-level";
import { MemoryLevel } from "memory-level";
import { describe, it } from "vitest";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import { MemoryEngine, MemoryStore } from "../src/engine/memory/memory-engine.js";
import { type EngineStorage, engineContract } from "../src/testing/index.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

engineContract(
  { describe, it },
  {
    name: "MemoryEngine",
    capabilities: ["views", "rangeChecks", "expiryOrder", "log"],
    create: async () => {
      const store = new MemoryStore();
      return { open: async () => new MemoryEngine(store) };
    },
  },
);

engineContract(
  { describe, it },
  {
    name: "LevelEngine in memory",
    capabilities: ["views", "rangeChecks", "expiryOrder", "log"],
    create: async () => storageOn(new MemoryLevel({ storeEncoding: "view" })),
  },
);

engineContract(
  { describe, it },
  {
    name: "LevelEngine on disk",
    capabilities: ["views", "rangeChecks", "expiryOrder", "log"],
    create: async () => {
      const folder = await makeFolder();
      const level = new ClassicLevel(folder, { keyEncoding: "view", valueEncoding: "view" });
      return storageOn(level, { copiesWrites: true }, () => removeFolder(folder));
    },
  },
);

// A database of the caller: it keeps Buffers, has another default encoding, and has only
// asynchronous reads.
engineContract(
  { describe, it },
  {
    name: "LevelEngine on a database of other habits",
    capabilities: ["log"],
    create: async () => {
      const level = new MemoryLevel({ keyEncoding: "utf8", valueEncoding: "json" });
      Object.assign(level.supports, { getSync: false, explicitSnapshots: false });
      return storageOn(level);
    },
  },
);

function storageOn(
  level: unknown,
  options: { copiesWrites?: boolean } = {},
  remove: () => Promise<void> = async () => undefined,
): EngineStorage {
  const database = level as LevelDatabase;
  return {
    open: async () => {
      await database.open();
      return await LevelEngine.open(database, options);
    },
    remove,
  };
}
