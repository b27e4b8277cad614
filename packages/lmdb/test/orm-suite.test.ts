import { openKv } from "@keywright/core";
import { ormSuite } from "@keywright/orm/testing";
import { describe, it } from "vitest";
import { lmdbEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

ormSuite(
  { describe, it },
  {
    name: "LMDB",
    open: async () => {
      const { path, remove } = await temporaryFile();
      const kv = await openKv(await lmdbEngine({ path }));
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
