import { ClassicLevel } from "classic-level";
import { MemoryLevel } from "memory-level";
import { describe, it } from "vitest";
import type { Engine } from "../src/engine/engine.js";
import { type LevelDatabase, LevelEngine } from "../src/engine/level/level-engine.js";
import { type EngineStore, engineContract } from "../src/testing/index.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

engineContract(
  { describe, it },
  {
    name: "LevelEngine in memory",
    create: () => storeOn(new MemoryLevel({ storeEncoding: "view" })),
  },
);

engineContract(
  { describe, it },
  {
    name: "LevelEngine on disk",
    create: async () => {
      const folder = await makeFolder();
      const level = new ClassicLevel(folder, { keyEncoding: "view", valueEncoding: "view" });
      return await storeOn(level, { copiesWrites: true }, () => removeFolder(folder));
    },
  },
);

// A database of the caller: it keeps Buffers, has another default encoding, and has only
// asynchronous reads.
engineContract(
  { describe, it },
  {
    name: "LevelEngine on a database of other habits",
    create: () => {
      const level = new MemoryLevel({ keyEncoding: "utf8", valueEncoding: "json" });
      Object.assign(level.supports, { getSync: false, explicitSnapshots: false });
      return storeOn(level);
    },
  },
);

async function storeOn(
  level: unknown,
  options: { copiesWrites?: boolean } = {},
  remove: () => Promise<void> = async () => undefined,
): Promise<EngineStore> {
  const database = level as LevelDatabase;
  const open = async (): Promise<Engine> => {
    await database.open();
    return await LevelEngine.open(database, options);
  };
  let engine = await open();
  return {
    get engine() {
      return engine;
    },
    async reopen() {
      await engine.close();
      engine = await open();
      return engine;
    },
    async dispose() {
      await engine.close();
      await remove();
    },
  };
}
