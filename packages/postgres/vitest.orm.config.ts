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
      "the process of a lease has ended if the database is not shared": [
        "migration-status: tells who is at work, and whether they seem to be",
      ],
      "the database is not shared, so a catalog is valid for less time": [
        "stale-catalog: is longer on a database that other processes use, and so is the wait of a removal",
      ],
      "a live query makes two reads more for each report in a shared database": [
        "live: reads no row for a change that cannot bring it in: not one for each live query",
      ],
      "it sets the clock of this process; entries expire by the clock of the server": [
        ...["counted-expiry", "ended-by-expiry", "expiry", "expiry-in-transactions"],
        "interrupted-deletes",
        "aggregates-build: agree with the rows at any time",
        "adopt: counts rows until their documents expire",
        "dangling-references: rows whose time is over are not there, on a database that tells when entries expire",
        "duplicates: refuses it after the row that had it has expired, on a database that returns expiry times",
      ],
      "a key can be longer than the 2,600 bytes of a key on PostgreSQL": [
        "backfill: indexes a row whose key is as long as the database takes it",
      ],
    },
  }),
);
