import { openKv } from "@keywright/core";
import { ormSuite } from "@keywright/orm/testing";
import { it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { describeOnServer as describe, newTable } from "../server/shared-server.js";

ormSuite(
  { describe, it },
  {
    name: "PostgreSQL",
    open: async () => {
      const kv = await openKv(await postgresEngine(newTable()));
      return { kv, dispose: () => kv.close() };
    },
  },
);
