import { openKv } from "@keywright/core";
import { kvContract } from "@keywright/core/testing";
import { describe, it } from "vitest";
import { serve } from "../../src/index.js";
import { token } from "../served.js";

kvContract(
  { describe, it },
  {
    name: "Kv over HTTP",
    capabilities: ["reopen"],
    create: async () => {
      const own = await openKv();
      const server = await serve(own, { port: 0, tokens: [token] });
      let kv = await openKv(server.url, { token });
      return {
        kv,
        reopen: async () => {
          await kv.close();
          kv = await openKv(server.url, { token });
          return kv;
        },
        dispose: async () => {
          await kv.close();
          await server.close();
          await own.close();
        },
      };
    },
  },
);
