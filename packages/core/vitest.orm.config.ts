import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ormOnServer } from "../../vitest.orm-on-server.mjs";

/** The tests of the ORM in processes that are attached to another one, which owns the databases. */
export default defineConfig(
  ormOnServer({
    isInstalled: process.platform !== "win32",
    openKv: fileURLToPath(new URL("test/open-attached.ts", import.meta.url)),
    globalSetup: [],
    assumptions: {
      "the test sets the clock of its own process, and the owner has another one": [
        "aggregates-build: agree with the rows at any time",
        "adopt: counts rows until their documents expire",
        "counted-expiry",
        "dangling-references: rows whose time is over are not there, on a database that tells when entries expire",
        "duplicates: refuses it after the row that had it has expired, on a database that returns expiry times",
        "ended-by-expiry",
        "expiry: a row and all of its entries expire together",
        "expiry: a row that expires between its look and its commit is not there",
        "expiry: the unique value of a row that has expired is free",
        "expiry: updates in transactions do not keep a row alive",
        "interrupted-deletes: is not one of a row that has its key later, by a transaction",
        "interrupted-deletes: is not one of a row that has its key later, by create",
        "interrupted-deletes: is not one of a row that has its key later, by createMany",
        "interrupted-deletes: is not one of a row that has its key later, by upsert",
      ],
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
