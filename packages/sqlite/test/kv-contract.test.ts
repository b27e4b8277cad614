import { type EmbeddedKv, openKv } from "@keywright/core";
import { kvContract } from "@keywright/core/testing";
import { describe, it } from "vitest";
import { sqliteEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

kvContract(
  { describe, it },
  {
    name: "Kv on SQLite",
    capabilities: ["reopen"],
    create: async () => {
      const { path, remove } = await temporaryFile();
      const open = async (): Promise<EmbeddedKv> => openKv(await sqliteEngine({ path }));
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
    },
  },
);
