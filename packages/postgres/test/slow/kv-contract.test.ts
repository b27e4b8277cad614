import { type EmbeddedKv, openKv } from "@keywright/core";
import { kvContract } from "@keywright/core/testing";
import { it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { describeOnServer as describe, newTable } from "../server/shared-server.js";

kvContract(
  { describe, it },
  {
    name: "Kv on PostgreSQL",
    capabilities: ["reopen"],
    create: async () => {
      const options = newTable();
      const open = async (): Promise<EmbeddedKv> => openKv(await postgresEngine(options));
      let kv = await open();
      return {
        kv,
        reopen: async () => {
          await kv.close();
          kv = await open();
          return kv;
        },
        dispose: () => kv.close(),
      };
    },
  },
);
