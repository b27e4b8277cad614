import { openKv } from "@keywright/core";
import { ormSuite } from "@keywright/orm/testing";
import { describe, it } from "vitest";
import { sqliteEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

ormSuite(
  { describe, it },
  {
    name: "SQLite",
    open: async () => {
      const { path, remove } = await temporaryFile();
      const kv = await openKv(await sqliteEngine({ path }));
      return {
        kv,
        dispose: async () => {
          await kv.close();
          await remove();
        },
      };
    },
  },
);
