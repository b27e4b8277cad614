import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ormOnServer } from "../../vitest.orm-on-server.mjs";

/** The tests of the ORM on SQLite files. */
export default defineConfig(
  ormOnServer({
    isInstalled: true,
    openKv: fileURLToPath(new URL("test/open-on-sqlite.ts", import.meta.url)),
    globalSetup: [],
    assumptions: {
      "the process of a lease has ended if the database is not shared": [
        "migration-status: tells who is at work, and whether they seem to be",
      ],
      "the database is not shared, so a catalog is valid for less time": [
        "stale-catalog: is longer on a database that other processes use, and so is the wait of a removal",
      ],
      "a live query makes two reads more for each report in a shared database": [
        "live: reads no row for a change that cannot bring it in: not one for each live query",
      ],
    },
  }),
);
