import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ormOnServer } from "../../vitest.orm-on-server.mjs";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The tests of the ORM on LMDB files. */
export default defineConfig(
  ormOnServer({
    isInstalled: true,
    openKv: path("test/open-on-lmdb.ts"),
    globalSetup: [],
    assumptions: {},
  }),
);
