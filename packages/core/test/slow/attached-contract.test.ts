import { afterAll, describe, it } from "vitest";
import { openKv } from "../../src/kv/open-kv.js";
import { kvContract } from "../../src/testing/index.js";
import { OwnerProcess } from "../owner-process.js";
import { makeFolder, removeFolder } from "../temporary-folder.js";

const owner = new OwnerProcess();
afterAll(() => owner.kill());

kvContract(
  { describe, it },
  {
    name: "Kv attached to the process that owns the folder",
    capabilities: ["reopen"],
    create: async () => {
      const folder = await makeFolder();
      await owner.open(folder, { durability: "relaxed" });
      let kv = await openKv(folder, { durability: "relaxed" });
      return {
        kv,
        reopen: async () => {
          await kv.close();
          kv = await openKv(folder, { durability: "relaxed" });
          return kv;
        },
        dispose: async () => {
          await kv.close();
          await owner.close(folder);
          await removeFolder(folder);
        },
      };
    },
  },
);
