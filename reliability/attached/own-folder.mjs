// A process that owns a folder or an LMDB file until it is killed: `own-folder.mjs <path>`.
import { openDatabase } from "../shared/open-database.mjs";

const kv = await openDatabase(process.argv[2]);
console.log("open");
// The open database alone does not keep the process alive.
setInterval(() => kv.isShared, 60_000);
