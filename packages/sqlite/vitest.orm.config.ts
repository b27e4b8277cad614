import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ormOnServer } from "../../vitest.orm-on-server.mjs";

/** The tests of the ORM on SQLite files. */
export default defineConfig(
  ormOnServer({
    isInstalled: true,
    openKv: fileURLToPath(new URL("test/open-on-sqlite.ts", import.meta.url)),
    globalSetup: [],
    assumptions: {},
  }),
);
