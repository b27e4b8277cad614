// Restores a moment of a backup into a database. Killed by log-run.mjs.
import { folderSink, restore } from "@keywright/core/backup";
import { placeOf } from "../shared/open-database.mjs";

const { sinkPath, at, where } = JSON.parse(process.argv[2]);
const place = await placeOf(where);
process.stdout.write("restoring\n");
await restore(folderSink(sinkPath), place, { at });
