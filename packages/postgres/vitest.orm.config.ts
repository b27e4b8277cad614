import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ormOnServer } from "../../vitest.orm-on-server.mjs";
import { announceSkipped } from "./test/server/announce-skipped.js";
import { findServer } from "./test/server/installed-server.js";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const isInstalled = findServer() !== undefined;
if (!isInstalled) announceSkipped();

/** The tests of the ORM on a PostgreSQL server. */
export default defineConfig(
  ormOnServer({
    isInstalled,
    openKv: path("test/server/open-on-server.ts"),
    globalSetup: path("test/global-setup.ts"),
    assumptions: {
      "a key can be longer than the 2,600 bytes of a key on PostgreSQL": [
        "backfill: indexes a row whose key is as long as the database takes it",
      ],
    },
  }),
);
