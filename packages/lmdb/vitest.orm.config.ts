import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ormOnServer } from "../../vitest.orm-on-server.mjs";

/** The tests of the ORM on LMDB files. */
export default defineConfig(
  ormOnServer({
    isInstalled: true,
    openKv: fileURLToPath(new URL("test/open-on-lmdb.ts", import.meta.url)),
    globalSetup: [],
    assumptions: {
      "a key can be longer than the 3,950 bytes of a key on LMDB": [
        "backfill: indexes a row whose key is as long as the database takes it",
      ],
    },
  }),
);
