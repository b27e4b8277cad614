import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ormOnServer } from "../../vitest.orm-on-server.mjs";
import announceSkipped from "./test/server/announce-skipped.js";
import { hasEtcd } from "./test/server/has-etcd.js";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

announceSkipped();

/** The tests of the ORM on a member of etcd. */
export default defineConfig(
  ormOnServer({
    isInstalled: hasEtcd,
    openKv: path("test/server/open-on-server.ts"),
    globalSetup: path("test/server/start-member.ts"),
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
      "it depends on a catalog that is at most some seconds old, and its commits take longer": [
        "change-key: is not seen by a program that reads at the moment of the switch",
      ],
      "the revision of etcd also counts the commits of other databases, so batches are as small as beside other writers":
        [
          "drop-index: removes the entries, the counters and the rest of indexes that are dropping, and keeps others",
          "drop-index: stops at the signal, and continues with what is left",
        ],
      "a commit on etcd has at most 100 checks": [
        "create-many: writes all rows in one commit",
        "cascade: is done in steps of a thousand rows",
        "shared-enqueue: calls of one turn share a commit",
        "shared-enqueue: more calls than a commit takes need several, and none is lost",
        "shared-enqueue: jobs with the same key are one job",
        "shared-enqueue: nothing is enqueued again if it is not known what was stored: after",
      ],
      "a row that is written a moment later is not found; a commit on etcd may be repeated after that":
        ["create-many: takes rows that refer to rows before them, on an embedded database"],
      "batches have 500 rows; with the 100 checks of a commit on etcd they are smaller": [
        "backfill: builds the new indexes in one scan, reports its progress, and makes them readable",
        "backfill: resumes behind the last batch rather than from the start",
        "backfill: stops after the batch in hand when it is told to, and continues there",
        "backfill: gives the same result when two runs work at once",
        "migration-status: tells what is to be done, what is being done and what is left",
        "backfill: writes nothing any more when another runner has taken over",
      ],
    },
  }),
);
